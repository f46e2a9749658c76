/// The keys that hosts must show, beside a certificate that the system trusts.
///
///     let pins: PublicKeyPins = [
///       "api.example.com": ["sha256/AAAA…=", "sha256/BBBB…="],   // the key in use, and the one kept in reserve
///       "*.cdn.example.com": ["sha256/CCCC…="],
///     ]
///
/// A pin is the SHA-256 of a key's `SubjectPublicKeyInfo` in Base64. It may be the server's own or that of any
/// certificate above it. A pin that is written wrongly matches nothing, so the host is refused rather than let through.
public struct PublicKeyPins: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  private let pins: [String: Set<String>]

  /// The pins of each host. A host that begins with `*.` stands for every name with one more label.
  public init(_ pins: [String: Set<String>]) {
    self.pins = pins.reduce(into: [:]) { result, entry in
      result[entry.key.lowercased(), default: []].formUnion(entry.value.map(Self.bare))
    }
  }

  /// The pins of each host.
  public init(dictionaryLiteral elements: (String, Set<String>)...) {
    self.init(Dictionary(elements, uniquingKeysWith: { $0.union($1) }))
  }

  /// The pins of a host, without their prefix; nil when any key will do.
  func pins(for host: String) -> Set<String>? {
    let host = host.lowercased()
    if let exact = pins[host] { return exact }
    guard let dot = host.firstIndex(of: ".") else { return nil }
    return pins["*\(host[dot...])"]
  }

  private static func bare(_ pin: String) -> String {
    pin.hasPrefix("sha256/") ? String(pin.dropFirst("sha256/".count)) : pin
  }
}
