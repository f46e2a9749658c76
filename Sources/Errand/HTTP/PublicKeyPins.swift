public import ErrandFoundation

/// The keys that hosts must show, beside a certificate that is trusted.
///
///     var pins = PublicKeyPins()
///     pins.register("sha256/AAAA…=", for: "api.example.com", until: nextRotation)
///     pins.register("sha256/BBBB…=", for: "api.example.com")                       // the one kept in reserve
///     pins.register("sha256/CCCC…=", for: "*.cdn.example.com")
///
/// A pin is the SHA-256 of a key's `SubjectPublicKeyInfo` in Base64 (RFC 7469 §2.4). It fails closed: a pin that is
/// written wrongly, or has expired, matches nothing, so a host with no other is refused rather than let through. A host that
/// is written as none can be refuses every host without pins of its own.
public struct PublicKeyPins: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  private struct Pin: Sendable, Hashable {
    let key: String
    let expiry: Date?
  }

  private var pins: [String: [Pin]] = [:]
  /// An entry that was registered in the place of a host, and is none.
  package private(set) var unknownHosts: [String] = []

  /// No pins: any key will do.
  public init() {}

  /// The pins of each host. A host that begins with `*.` stands for every name with one more label.
  public init(_ pins: [String: Set<String>]) {
    for (host, keys) in pins {
      for key in keys.sorted() { register(key, for: host) }
    }
  }

  /// The pins of each host.
  public init(dictionaryLiteral elements: (String, Set<String>)...) {
    self.init(Dictionary(elements, uniquingKeysWith: { $0.union($1) }))
  }

  /// Adds a key that a host may show.
  ///
  /// - Parameters:
  ///   - key: `sha256/` and the hash in Base64; the prefix may be left out.
  ///   - host: The host; `*.example.com` stands for every name with one more label.
  ///   - expiry: The date from which the key no longer counts; nil is never.
  public mutating func register(_ key: String, for host: String, until expiry: Date? = nil) {
    let bare = key.hasPrefix("sha256/") ? String(key.dropFirst("sha256/".count)) : key
    guard let name = Self.normal(host) else { return unknownHosts.append(host) }
    pins[name, default: []].append(Pin(key: bare, expiry: expiry))
  }

  /// The one form of a host; nil where it has none.
  private static func normal(_ host: String) -> String? {
    host.hasPrefix("*.")
      ? HostName.written(host.dropFirst(2)).map { "*.\($0.text)" } : HostName.written(host[...])?.text
  }

  /// True when there are none.
  public var isEmpty: Bool { pins.isEmpty && unknownHosts.isEmpty }

  /// These pins and others; a host that is in both has the pins of both.
  public func union(_ others: PublicKeyPins) -> PublicKeyPins {
    guard !isEmpty else { return others }
    var union = self
    union.unknownHosts += others.unknownHosts
    union.pins.merge(others.pins) { $0 + $1 }
    return union
  }

  /// The pins of a host that count now, without their prefix: empty where all have expired; nil when any key will do.
  package func pins(for host: String, at now: Date = Date()) -> Set<String>? {
    guard !isEmpty else { return nil }
    let host = HostName.normal(host)
    var found = pins[host]
    if found == nil, let dot = host.firstIndex(of: ".") { found = pins["*\(host[dot...])"] }
    // A pin was meant for some host, perhaps for this one.
    guard found != nil || unknownHosts.isEmpty else { return [] }
    return found.map { pins in Set(pins.filter { $0.expiry.map { $0 > now } ?? true }.map(\.key)) }
  }
}
