import ErrandFoundation

/// The key under which responses are stored: the URL and the request's credential.
///
/// A response to a request with a credential is only used for requests with the same credential.
public struct CacheKey: Sendable, Hashable {
  /// The URL without the user name and the fragment.
  public let url: String
  /// A hash of the credential, including the URL's user name, and of a `Host` field that differs from the URL's host.
  /// Empty if there is nothing to hash.
  public let credential: String

  /// Creates a key.
  public init(url: String, credential: String = "") {
    self.url = url
    self.credential = credential
  }
}

extension CacheKey {
  /// The parts of a request's target that are not in the key's URL.
  struct Target: Sendable, Hashable {
    /// The user name and the password in the URL. They are secret, and users must not share responses.
    var user: String?
    /// The request's `Host` field if it differs from the URL's host. It then determines the target (RFC 9110 §7.1).
    var host: String?

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

  /// Returns the URL for a key, with its scheme, host, port and root normalized (RFC 9110 §4.2.3). The user name is
  /// removed because it is part of the credential, and the fragment because it is never sent.
  static func text(of url: String) -> String { isInForm(url) ? url : inForm(url) }

  /// Whether a quick check shows that a URL is normalized, as most URLs are. Returns `false` if in doubt.
  private static func isInForm(_ url: String) -> Bool {
    url.utf8.withContiguousStorageIfAvailable { bytes in
      var slashes = 0
      for (index, byte) in bytes.enumerated() {
        switch byte {
        case UInt8(ascii: "/"):
          slashes += 1
          // This may be the default port, which has at most three digits.
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
