import ErrandFoundation

struct CookieTarget: Sendable {
  let origin: Origin
  let host: String
  let path: String
  let isAddress: Bool

  /// Returns `nil` if requests can't be sent to the URL.
  init?(_ url: URL) {
    guard let origin = Origin(url) else { return nil }
    self.origin = origin
    host = origin.host
    isAddress = Self.isAddress(host)
    path = Self.path(of: url.absoluteString)
  }

  /// Whether secure cookies can be sent: over TLS, or to a loopback host. RFC 6265bis §5.7, step 13, gives "localhost"
  /// as an example of a host that is trusted without TLS.
  var isSecure: Bool { origin.isSecure || origin.isLoopback }

  /// The path for cookies that don't specify one: the request's path up to its last slash (RFC 6265bis §5.1.4).
  var defaultPath: String {
    guard let last = path.utf8.lastIndex(of: UInt8(ascii: "/")), last > path.startIndex else { return "/" }
    return String(path[..<last])
  }

  /// Whether the host is `domain` or one of its subdomains (RFC 6265bis §5.1.3).
  func matches(domain: String) -> Bool { Self.isName(host, in: domain) && (!isAddress || host == domain) }

  static func isName(_ name: String, in domain: String) -> Bool {
    name == domain || (name.hasSuffix(domain) && name.utf8.dropLast(domain.utf8.count).last == UInt8(ascii: "."))
  }

  /// Whether a cookie with `cookiePath` is sent to `path` (RFC 6265bis §5.1.4).
  static func isPath(_ path: String, below cookiePath: String) -> Bool {
    guard path.utf8.starts(with: cookiePath.utf8) else { return false }
    // Only complete segments match: "/foo" is not a prefix of "/foobar".
    let rest = path.utf8.dropFirst(cookiePath.utf8.count)
    return rest.isEmpty || cookiePath.utf8.last == UInt8(ascii: "/") || rest.first == UInt8(ascii: "/")
  }

  /// The domains whose cookies can be sent to the host: the host and its parent domains.
  var domains: [Substring] {
    var domains = [host[...]]
    guard !isAddress else { return domains }
    var rest = host[...]
    while let dot = rest.firstIndex(of: ".") {
      rest = rest[rest.index(after: dot)...]
      domains.append(rest)
    }
    return domains
  }

  /// Whether both URLs are same-site: they have the same scheme and registrable domain (RFC 6265bis §5.2).
  func isSameSite(as other: CookieTarget, _ suffixes: @autoclosure () -> PublicSuffixes) -> Bool {
    if origin == other.origin { return true }
    guard origin.isSecure == other.origin.isSecure else { return false }
    if host == other.host { return true }
    guard !isAddress, !other.isAddress else { return false }
    let suffixes = suffixes()
    guard let domain = suffixes.registrableDomain(of: host) else { return false }
    return domain == suffixes.registrableDomain(of: other.host)
  }

  private static func isAddress(_ host: String) -> Bool {
    // A canonical host name does not end in a number.
    host.hasPrefix("[")
      || host.utf8.last.map { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") } == true
        && IPv4Address.isNumber(host.utf8.split(separator: UInt8(ascii: ".")).last ?? [])
  }

  private static func path(of text: String) -> String {
    let bytes = text.utf8
    // `Origin` ensures that there is a scheme followed by two slashes.
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return "/" }
    let authority = bytes.index(colon, offsetBy: 3, limitedBy: bytes.endIndex) ?? bytes.endIndex
    let rest = bytes[authority...].drop { !Self.delimiters.contains($0) }
    let path = rest.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    return path.isEmpty ? "/" : String(Substring(path))
  }

  private static let delimiters = [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")]
}
