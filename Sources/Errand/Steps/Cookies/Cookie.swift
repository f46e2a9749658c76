public import ErrandFoundation

/// A cookie of a ``CookieJar``. Its description does not show its value.
public struct Cookie: Sendable, CustomStringConvertible, CustomReflectable {
  /// The name; empty where the server gave none.
  public let name: String
  /// The value, which is mostly a secret.
  public let value: String
  /// The host that it belongs to, in lower case; unless ``isHostOnly``, also the names below it.
  public let domain: String
  /// The path at which it begins to be sent.
  public let path: String
  /// True when it goes to no other host than ``domain``.
  public let isHostOnly: Bool
  /// True when it goes over TLS alone, and to this machine.
  public let isSecure: Bool
  /// True when the server keeps it from scripts, which makes no difference here.
  public let isHTTPOnly: Bool
  /// The rule for requests that another site has caused; nil where the server states none, which is `lax`.
  public let sameSite: SameSite?
  /// The date from which it is no longer sent; nil where it lasts as long as the jar is in memory.
  public let expiry: Date?
  /// The date at which it came; that of the first of its kind where it was replaced since.
  public internal(set) var created: Date
  /// The date at which it, or the last of its kind, was set.
  var set: Date
  /// The date at which it was last sent, or came.
  var accessed: Date
  /// The order in which cookies came.
  var number = 0

  /// The parts that tell cookies apart (RFC 6265bis §5.7, step 23).
  struct ID: Hashable, Sendable {
    let name: String
    let domain: String
    let path: String
    let isHostOnly: Bool
  }

  var id: ID { ID(name: name, domain: domain, path: path, isHostOnly: isHostOnly) }

  /// A cookie by its parts.
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

  /// `name=value` as it is sent; the value alone where there is no name (RFC 6265bis §5.8.3, step 4).
  var pair: String { name.isEmpty ? value : "\(name)=\(value)" }

  /// True where it was set after that time, by another process. Their clocks differ a little; what one that is wrong says of the future
  /// counts for nothing.
  func wasSet(after time: Date, now: Date) -> Bool {
    set > time.addingTimeInterval(1) && set <= now.addingTimeInterval(1)
  }

  /// True from its expiry on.
  func hasExpired(at now: Date) -> Bool { expiry.map { $0 <= now } ?? false }

  /// Name, domain and path, and its rules.
  public var description: String {
    var text = "\(name) of \(isHostOnly ? "" : "*.")\(domain)\(path)"
    if isSecure { text += ", secure" }
    if let sameSite { text += ", same site: \(sameSite)" }
    if let expiry { text += ", until \(HTTPDate.format(expiry))" }
    return text
  }

  /// Nothing of the value, which `dump` would show.
  public var customMirror: Mirror { Mirror(self, children: ["cookie": description]) }
}
