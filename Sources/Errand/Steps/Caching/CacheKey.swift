import ErrandFoundation

/// The name under which responses are stored: the URL, and the credential that the request carried.
///
/// A response to a request with a credential is found by requests with the same one only.
public struct CacheKey: Sendable, Hashable {
  /// The URL without its user and its fragment.
  public let url: String
  /// A hash of the credential, that of the URL's user included, and of a `Host` that is not the URL's own; empty where there was
  /// none.
  public let credential: String

  /// A key by its parts.
  public init(url: String, credential: String = "") {
    self.url = url
    self.credential = credential
  }
}

extension CacheKey {
  /// The parts of a request's target that the URL of its key does not have.
  struct Target: Sendable, Hashable {
    /// User and password of the URL: a secret, by which users are kept apart.
    var user: String?
    /// The `Host` that the request states where that is not the URL's own: it is that of the target (RFC 9110 §7.1).
    var host: String?

    /// Those of a request that has none.
    init() {}

    init(_ request: HTTPRequest) {
      let text = request.url.absoluteString
      if text.utf8.contains(UInt8(ascii: "@")) { user = CacheKey.user(of: text) }
      guard let stated = request.headers[.host]?.lowercased() else { return }
      let own = Origin(request.url)
      let isDefaultPort = own.map { $0.port == ($0.isSecure ? 443 : 80) } ?? false
      let isOwn =
        own.map { stated == "\($0.host):\($0.port)" || (isDefaultPort && stated == $0.host) }
        ?? false
      if !isOwn { host = stated }
    }

    static func == (left: Target, right: Target) -> Bool {
      Vary.isSame(left.user, right.user) && Vary.isSame(left.host, right.host)
    }
  }

  /// The text of a URL as a key has it: without a user, who may have a password and is kept apart as a credential is, without a
  /// fragment, which is never sent, and with scheme, host, port and root in the one form in which they are compared (RFC 9110
  /// §4.2.3).
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
        case UInt8(ascii: "@") where slashes < 3: return false
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
    guard let authority = authority(of: text) else { return text }
    let (start, end) = (authority.lowerBound, authority.upperBound)
    let isRootMissing = end == text.endIndex || text.utf8[end] == UInt8(ascii: "?")
    let scheme = text[..<start].lowercased()
    let port = scheme == "https://" ? ":443" : ":80"
    let hasPort = text[authority].hasSuffix(port)
    let hasCapitals = text.utf8[..<end].contains { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") }
    let user = endOfUser(in: text, authority)
    guard isRootMissing || hasPort || hasCapitals || user != nil else { return text }
    let host = text[(user.map { text.utf8.index(after: $0) } ?? start)..<end].lowercased()
    return "\(scheme)\(host.dropLast(hasPort ? port.count : 0))\(isRootMissing ? "/" : "")\(text[end...])"
  }

  /// User and password of a URL as they are written; nil where it has none.
  private static func user(of url: String) -> String? {
    guard let authority = authority(of: url), let end = endOfUser(in: url, authority) else { return nil }
    return String(url[authority.lowerBound..<end])
  }

  private static func endOfUser(in text: String, _ authority: Range<String.Index>) -> String.Index? {
    text.utf8[authority].lastIndex(of: UInt8(ascii: "@"))
  }

  private static func authority(of text: String) -> Range<String.Index>? {
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), text.utf8[colon...].starts(with: "://".utf8) else {
      return nil
    }
    let start = text.utf8.index(colon, offsetBy: 3)
    return start..<(text.utf8[start...].firstIndex { endsAuthority($0) } ?? text.endIndex)
  }

  private static func endsAuthority(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") }
}
