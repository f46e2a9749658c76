public import ErrandFoundation

/// A cookie in a ``CookieJar``. Its description does not show its value.
public struct Cookie: Sendable, CustomStringConvertible, CustomReflectable {
  /// The name. Empty if the server didn't set a name.
  public let name: String
  /// The value, which is usually secret.
  public let value: String
  /// The domain in lowercase. Unless ``isHostOnly`` is `true`, the cookie is also sent to subdomains.
  public let domain: String
  /// The path for which the cookie is sent, including the paths below it.
  public let path: String
  /// Whether the cookie is only sent to ``domain`` itself.
  public let isHostOnly: Bool
  /// Whether the cookie is only sent over TLS or to the local machine.
  public let isSecure: Bool
  /// Whether the server hides the cookie from scripts. Errand ignores this.
  public let isHTTPOnly: Bool
  /// The rule for cross-site requests, or `nil` if the server didn't set one, which means `lax`.
  public let sameSite: SameSite?
  /// The date from which the cookie is no longer sent. `nil` for a session cookie, which is only kept in memory.
  public let expiry: Date?
  /// The time at which the cookie was first set. Does not change when the cookie is replaced.
  public internal(set) var created: Date
  /// The time at which the cookie was last set.
  var set: Date
  /// The time at which the cookie was last sent or received.
  var accessed: Date
  var number = 0

  /// The identity of a cookie (RFC 6265bis §5.7, step 23).
  struct ID: Hashable, Sendable {
    let name: String
    let domain: String
    let path: String
    let isHostOnly: Bool
  }

  var id: ID { ID(name: name, domain: domain, path: path, isHostOnly: isHostOnly) }

  init(
    _ id: ID, _ value: String, isSecure: Bool, isHTTPOnly: Bool, sameSite: SameSite?, expiry: Date?, created: Date,
    accessed: Date
  ) {
    name = id.name
    self.value = value
    domain = id.domain
    path = id.path
    isHostOnly = id.isHostOnly
    self.isSecure = isSecure
    self.isHTTPOnly = isHTTPOnly
    self.sameSite = sameSite
    self.expiry = expiry
    self.created = created
    self.accessed = accessed
    set = created
  }

  /// `name=value`, or only the value if the name is empty (RFC 6265bis §5.8.3, step 4).
  var pair: String { name.isEmpty ? value : "\(name)=\(value)" }

  /// Whether another process set the cookie after `time`. The clocks may differ by one second. Dates further in the
  /// future are ignored, because they come from a wrong clock.
  func wasSet(after time: Date, now: Date) -> Bool {
    set > time.addingTimeInterval(1) && set <= now.addingTimeInterval(1)
  }

  func hasExpired(at now: Date) -> Bool { expiry.map { $0 <= now } ?? false }

  /// The name, domain, path and rules, without the value.
  public var description: String {
    var text = "\(name) of \(isHostOnly ? "" : "*.")\(domain)\(path)"
    if isSecure { text += ", secure" }
    if let sameSite { text += ", same site: \(sameSite)" }
    if let expiry { text += ", until \(HTTPDate.format(expiry))" }
    return text
  }

  /// Hides the value from `dump`.
  public var customMirror: Mirror { Mirror(self, children: ["cookie": description]) }
}
