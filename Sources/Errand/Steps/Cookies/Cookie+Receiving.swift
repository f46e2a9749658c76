import ErrandFoundation

/// The reason why a cookie is not kept.
enum CookieRefusal: String, Error {
  case malformed = "it has a control character or bytes that are no UTF-8, is empty, or is longer than 4,096 bytes"
  case notASCII = "its domain has letters beyond ASCII: they are written as they are looked up, with xn--"
  case publicSuffix = "its domain is a public suffix, below which anybody may have a name"
  case foreignDomain = "its domain is not that of the host"
  case insecureOrigin = "it is marked Secure, and came over plain http"
  case shadowsSecure = "it came over plain http, and would hide one that is marked Secure"
  case sameSiteNone = "it has SameSite=None, and is not marked Secure"
  case securePrefix = "its name begins with __Secure-, and it is not marked Secure"
  case hostPrefix = "its name begins with __Host-, and it is not marked Secure, has a Domain, or no Path=/"
  case namelessPrefix = "it has no name, and a value that looks like a name with __Host- or __Secure-"
  case noURL = "its URL is none that requests are sent to"
}

extension Cookie {
  /// The longest that a cookie is kept: 400 days (RFC 6265bis §5.5).
  static let longestAge = 400 * 86_400

  /// The cookie that a line of `Set-Cookie` asks to be kept, by steps 5 to 22 of RFC 6265bis §5.7.
  ///
  /// Step 18, on responses to other sites' requests, never refuses: a call is a navigation of its own, not a part of a page.
  ///
  /// - Parameters:
  ///   - field: The line.
  ///   - target: The request that it answers.
  ///   - now: The present.
  ///   - suffixes: The public suffixes; asked for where the cookie is for a domain.
  /// - Throws: The reason not to keep it.
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

  /// The domain to which the cookie goes, with the names below it; nil where it goes to the host alone. Steps 7 to 10.
  private static func domain(
    of field: SetCookie, from target: CookieTarget, _ suffixes: () -> PublicSuffixes
  ) throws(CookieRefusal) -> String? {
    let domain = field.domain
    guard !domain.isEmpty else { return nil }
    guard domain.utf8.allSatisfy({ $0 < 0x80 }) else { throw .notASCII }
    guard target.matches(domain: domain) else { throw .foreignDomain }
    // An address has no names below it.
    if target.isAddress { return nil }
    let suffixes = suffixes()
    if suffixes.isSuffix(domain) {
      guard domain == target.host else { throw .publicSuffix }
      return nil
    }
    // Others may have names below it, as below `ngrok.io`.
    return suffixes.isComplete || domain == target.host ? domain : nil
  }

  // Steps 20 to 22: "case-insensitive match".
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

  /// The date at which the cookie expires; nil where it lasts as long as the jar. Step 6: `Max-Age` before `Expires`.
  private static func expiry(of field: SetCookie, _ now: Date) -> Date? {
    let limit = now.addingTimeInterval(Double(longestAge))
    if let age = field.maxAge {
      // §5.6.2: nothing or less is the earliest date there is.
      return age <= 0 ? .distantPast : min(now.addingTimeInterval(Double(age)), limit)
    }
    return field.expires.map { min($0, limit) }
  }
}
