import ErrandFoundation

/// The header of a response as it is stored, and as it is after a validation.
enum StoredHeader {
  // RFC 9111 §3.1: fields of the connection, of proxies, and those that Connection, no-cache and private name, are left out.
  private static let perHop: Set<HTTPHeaderName> = [
    .connection, "Keep-Alive", "Proxy-Connection", "TE", .transferEncoding, "Upgrade", .proxyAuthenticate,
    "Proxy-Authentication-Info", .proxyAuthorization, "Trailer",
  ]

  /// The fields of a response that are stored.
  ///
  /// - Parameters:
  ///   - headers: The header of the response.
  ///   - responseTime: The moment at which it came.
  static func stored(_ headers: HTTPHeaders, responseTime: Date) -> HTTPHeaders {
    let dropped = excluded(headers, qualifiers: true)
    var kept = HTTPHeaders(headers.filter { !dropped.contains($0.name) })
    // RFC 9110 §6.6.1: a recipient with a clock that stores a response without a date records when it came.
    if kept.firstDate(.date, now: responseTime) == nil { kept[.date] = HTTPDate.format(responseTime) }
    return kept
  }

  private static func excluded(_ headers: HTTPHeaders, qualifiers: Bool) -> Set<HTTPHeaderName> {
    var names = perHop
    names.formUnion(FieldScanner.members(of: headers.values(for: .connection)).map { HTTPHeaderName($0) })
    guard qualifiers, headers.contains(.cacheControl) else { return names }
    // RFC 9111 §5.2.2.4: fields that no-cache names must not be used again without validation.
    names.formUnion(CacheControl(headers).fieldNames("no-cache"))
    return names
  }

  // RFC 9111 §5.2.2.4: as in `stored`, for a header that was updated.
  /// The fields of an updated header that may be used again without another validation.
  static func reusable(_ headers: HTTPHeaders, responseTime: Date) -> HTTPHeaders {
    var kept = headers
    for name in CacheControl(headers).fieldNames("no-cache") { kept.remove(name) }
    if !kept.contains(.date) { kept[.date] = HTTPDate.format(responseTime) }
    return kept
  }

  // RFC 9111 §3.2: fields that say how the body was processed, which was done when it came.
  private static let aboutBody: Set<HTTPHeaderName> = [.contentLength, .contentEncoding, .contentRange]

  /// The header of a stored response, updated by that of a 304 or of a response to HEAD: every field that is in the new
  /// one replaces all lines of it (RFC 9111 §3.2).
  static func updated(_ stored: HTTPHeaders, by new: HTTPHeaders, responseTime: Date) -> HTTPHeaders {
    let dropped = excluded(new, qualifiers: false).union(aboutBody)
    var new = HTTPHeaders(new.filter { !dropped.contains($0.name) })
    if new.firstDate(.date, now: responseTime) == nil { new[.date] = HTTPDate.format(responseTime) }
    var merged = stored
    merged.remove(.age)  // it was that of the copy before
    merged.replace(with: new)
    return merged
  }
}
