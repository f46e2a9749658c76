public import ErrandFoundation

/// The public keys that hosts must present, in addition to a trusted certificate.
///
///     var pins = PublicKeyPins()
///     pins.register("sha256/AAAA…=", for: "api.example.com", until: nextRotation)
///     pins.register("sha256/BBBB…=", for: "api.example.com")                       // the backup key
///     pins.register("sha256/CCCC…=", for: "*.cdn.example.com")
///
/// A pin is the Base64-encoded SHA-256 of a key's `SubjectPublicKeyInfo` (RFC 7469 §2.4). Pinning fails closed: a
/// malformed or expired pin matches nothing, so a host without a valid pin is rejected. If an invalid host is
/// registered, all hosts without their own pins are rejected.
public struct PublicKeyPins: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  private struct Pin: Sendable, Hashable {
    let key: String
    let expiry: Date?
  }

  private var pins: [String: [Pin]] = [:]
  /// The registered hosts that are invalid.
  package private(set) var unknownHosts: [String] = []

  /// Creates an empty set of pins, which accepts every key.
  public init() {}

  /// Creates pins from the keys of each host. A host such as `*.example.com` matches names with exactly one more label,
  /// such as `a.example.com`.
  public init(_ pins: [String: Set<String>]) {
    for (host, keys) in pins {
      for key in keys.sorted() { register(key, for: host) }
    }
  }

  /// Creates pins from the keys of each host.
  public init(dictionaryLiteral elements: (String, Set<String>)...) {
    self.init(Dictionary(elements, uniquingKeysWith: { $0.union($1) }))
  }

  /// Adds a key for a host.
  ///
  /// - Parameters:
  ///   - key: `sha256/` followed by the hash in Base64. The prefix is optional.
  ///   - host: The host. `*.example.com` matches names with exactly one more label, such as `a.example.com`.
  ///   - expiry: The date from which the key is no longer accepted. Defaults to `nil`, which means that the key doesn't
  ///     expire.
  public mutating func register(_ key: String, for host: String, until expiry: Date? = nil) {
    let bare = key.hasPrefix("sha256/") ? String(key.dropFirst("sha256/".count)) : key
    guard let name = Self.normal(host) else { return unknownHosts.append(host) }
    pins[name, default: []].append(Pin(key: bare, expiry: expiry))
  }

  private static func normal(_ host: String) -> String? {
    host.hasPrefix("*.")
      ? HostName.written(host.dropFirst(2)).map { "*.\($0.text)" } : HostName.written(host[...])?.text
  }

  /// Whether no hosts are registered.
  public var isEmpty: Bool { pins.isEmpty && unknownHosts.isEmpty }

  /// Returns these pins combined with others. A host that is in both keeps all of its pins.
  public func union(_ others: PublicKeyPins) -> PublicKeyPins {
    guard !isEmpty else { return others }
    var union = self
    union.unknownHosts += others.unknownHosts
    union.pins.merge(others.pins) { $0 + $1 }
    return union
  }

  /// Returns the pins that are currently valid for a host, without their prefix. Returns an empty set if no key is
  /// accepted, or `nil` if every key is accepted.
  package func pins(for host: String, at now: Date = Date()) -> Set<String>? {
    guard !isEmpty else { return nil }
    let host = HostName.normal(host)
    var found = pins[host]
    if found == nil, let dot = host.firstIndex(of: ".") { found = pins["*\(host[dot...])"] }
    // The invalid entry might have been meant for this host.
    guard found != nil || unknownHosts.isEmpty else { return [] }
    return found.map { pins in Set(pins.filter { $0.expiry.map { $0 > now } ?? true }.map(\.key)) }
  }
}
