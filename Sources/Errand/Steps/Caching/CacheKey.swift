/// The name under which responses are stored: the URL, and the credential that the request carried.
///
/// A response to a request with a credential is found by requests with the same one only.
public struct CacheKey: Sendable, Hashable {
  /// The URL without its fragment.
  public let url: String
  /// A hash of the credential; empty where there was none.
  public let credential: String

  /// A key by its parts.
  public init(url: String, credential: String = "") {
    self.url = url
    self.credential = credential
  }
}

extension CacheKey {
  /// The text of a URL as a key has it: without a fragment, which is never sent, and with scheme, host, port and root in the
  /// one form in which they are compared (RFC 9110 §4.2.3).
  static func text(of url: String) -> String { isInForm(url) ? url : inForm(url) }

  /// True for a URL that surely has that form already, as most have: host in lower case, another port or none, a path.
  private static func isInForm(_ url: String) -> Bool {
    url.utf8.withContiguousStorageIfAvailable { bytes in
      var slashes = 0
      for (index, byte) in bytes.enumerated() {
        switch byte {
        case UInt8(ascii: "/"):
          slashes += 1
          // A port of three digits at most, which may be that of the scheme.
          if slashes == 3, bytes[max(0, index - 4)..<index].contains(UInt8(ascii: ":")) { return false }
        case UInt8(ascii: "#"): return false
        case UInt8(ascii: "A")...UInt8(ascii: "Z") where slashes < 3: return false
        case UInt8(ascii: "?") where slashes < 3: return false
        default: break
        }
      }
      return slashes >= 3
    } ?? false
  }

  private static func inForm(_ url: String) -> String {
    let text = url.utf8.contains(UInt8(ascii: "#")) ? String(url.prefix { $0 != "#" }) : url
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), text[colon...].hasPrefix("://") else { return text }
    let start = text.utf8.index(colon, offsetBy: 3)
    let end = text.utf8[start...].firstIndex { Self.endsAuthority($0) } ?? text.endIndex
    let isRootMissing = end == text.endIndex || text.utf8[end] == UInt8(ascii: "?")
    let port = text[..<colon].lowercased() == "https" ? ":443" : ":80"
    let hasPort = text[start..<end].hasSuffix(port)
    let hasCapitals = text.utf8[..<end].contains { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") }
    guard isRootMissing || hasPort || hasCapitals else { return text }
    let host = text.utf8[start..<end].lastIndex(of: UInt8(ascii: "@")).map { text.utf8.index(after: $0) } ?? start
    let authority = text[start..<host] + text[host..<end].lowercased().dropLast(hasPort ? port.count : 0)
    return "\(text[..<start].lowercased())\(authority)\(isRootMissing ? "/" : "")\(text[end...])"
  }

  private static func endsAuthority(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") }
}
