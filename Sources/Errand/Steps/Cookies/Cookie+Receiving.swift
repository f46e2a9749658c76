import ErrandFoundation

enum CookieRefusal: String, Error {
  case malformed = "it contains a control character or invalid UTF-8, is empty, or is longer than 4,096 bytes"
  case notASCII = "its domain contains non-ASCII letters, which must be encoded as xn-- labels"
  case publicSuffix = "its domain is a public suffix, under which anyone can register a name"
  case foreignDomain = "its domain does not match the host"
  case insecureOrigin = "it is marked Secure but was received over plain http"
  case shadowsSecure = "it was received over plain http and would hide a cookie that is marked Secure"
  case sameSiteNone = "it has SameSite=None but is not marked Secure"
  case securePrefix = "its name begins with __Secure-, but it is not marked Secure"
  case hostPrefix = "its name begins with __Host-, which requires Secure and Path=/, and forbids Domain"
  case namelessPrefix = "it has no name, and its value begins with __Host- or __Secure-"
  case noURL = "its URL is not a valid http or https URL"
}

extension Cookie {
  /// The maximum lifetime of a cookie in seconds: 400 days (RFC 6265bis §5.5).
  static let longestAge = 400 * 86_400

  /// Creates a cookie from a `Set-Cookie` header, following steps 5 to 22 of RFC 6265bis §5.7.
  ///
  /// Step 18, for cross-site responses, never rejects a cookie, because a call counts as a top-level navigation and not
  /// as part of a page.
  init(
    _ field: SetCookie, from target: CookieTarget, now: Date, _ suffixes: @autoclosure () -> PublicSuffixes
  ) throws(CookieRefusal) {
    let domain = try Self.domain(of: field, from: target, suffixes)
    // Step 13.
    if field.isSecure, !target.isSecure { throw .insecureOrigin }
    let path = field.path ?? target.defaultPath
    try Self.checkPrefixes(field, isHostOnly: domain == nil, path)
    // Step 19.
    if field.sameSite == SameSite.none, !field.isSecure { throw .sameSiteNone }
    self.init(
      ID(name: field.name, domain: domain ?? target.host, path: path, isHostOnly: domain == nil), field.value,
      isSecure: field.isSecure, isHTTPOnly: field.isHTTPOnly, sameSite: field.sameSite,
      expiry: Self.expiry(of: field, now), created: now, accessed: now)
  }

  /// Returns the domain to which the cookie is sent, including subdomains, or `nil` for the host only (steps 7 to 10).
  private static func domain(
    of field: SetCookie, from target: CookieTarget, _ suffixes: () -> PublicSuffixes
  ) throws(CookieRefusal) -> String? {
    let domain = field.domain
    guard !domain.isEmpty else { return nil }
    guard domain.utf8.allSatisfy({ $0 < 0x80 }) else { throw .notASCII }
    guard target.matches(domain: domain) else { throw .foreignDomain }
    // An address has no subdomains.
    if target.isAddress { return nil }
    let suffixes = suffixes()
    if suffixes.isSuffix(domain) {
      guard domain == target.host else { throw .publicSuffix }
      return nil
    }
    // The domain could be a public suffix, such as `ngrok.io`, that is missing from an incomplete list.
    return suffixes.isComplete || domain == target.host ? domain : nil
  }

  private static func checkPrefixes(_ field: SetCookie, isHostOnly: Bool, _ path: String) throws(CookieRefusal) {
    guard !field.name.isEmpty else {
      if begins(field.value, with: "__secure-") || begins(field.value, with: "__host-") { throw .namelessPrefix }
      return
    }
    if begins(field.name, with: "__secure-"), !field.isSecure { throw .securePrefix }
    if begins(field.name, with: "__host-"), !field.isSecure || !isHostOnly || !field.statesPath || path != "/" {
      throw .hostPrefix
    }
  }

  private static func begins(_ text: String, with prefix: String) -> Bool {
    text.utf8.count >= prefix.utf8.count && zip(text.utf8, prefix.utf8).allSatisfy { ($0 | 0x20) == ($1 | 0x20) }
  }

  /// Returns the expiry date, or `nil` for a session cookie. Step 6: `Max-Age` takes precedence over `Expires`.
  private static func expiry(of field: SetCookie, _ now: Date) -> Date? {
    let limit = now.addingTimeInterval(Double(longestAge))
    if let age = field.maxAge {
      // §5.6.2: zero or less means the earliest date.
      return age <= 0 ? .distantPast : min(now.addingTimeInterval(Double(age)), limit)
    }
    return field.expires.map { min($0, limit) }
  }
}
