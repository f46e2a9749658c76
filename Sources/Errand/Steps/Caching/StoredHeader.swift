import ErrandFoundation

enum StoredHeader {
  // RFC 9111 §3.1: don't store fields for the connection or for proxies, or fields named by Connection or no-cache.
  private static let perHop: Set<HTTPHeaderName> = [
    .connection, "Keep-Alive", "Proxy-Connection", "TE", .transferEncoding, "Upgrade", .proxyAuthenticate,
    "Proxy-Authentication-Info", .proxyAuthorization, "Trailer",
  ]

  static func stored(_ headers: HTTPHeaders, responseTime: Date) -> HTTPHeaders {
    let dropped = excluded(headers, qualifiers: true)
    var kept = HTTPHeaders(headers.filter { !dropped.contains($0.name) })
    // RFC 9110 §6.6.1: if the response has no Date, a recipient with a clock adds the date of receipt.
    if kept.firstDate(.date, now: responseTime) == nil { kept[.date] = HTTPDate.format(responseTime) }
    return kept
  }

  private static func excluded(_ headers: HTTPHeaders, qualifiers: Bool) -> Set<HTTPHeaderName> {
    var names = perHop
    names.formUnion(FieldScanner.members(of: headers.values(for: .connection)).map { HTTPHeaderName($0) })
    guard qualifiers, headers.contains(.cacheControl) else { return names }
    // RFC 9111 §5.2.2.4: fields named by no-cache must not be reused without validation.
    names.formUnion(CacheControl(headers).fieldNames("no-cache"))
    return names
  }

  /// Returns the fields of an updated header that can be reused without another validation (RFC 9111 §5.2.2.4).
  static func reusable(_ headers: HTTPHeaders, responseTime: Date) -> HTTPHeaders {
    var kept = headers
    for name in CacheControl(headers).fieldNames("no-cache") { kept.remove(name) }
    if !kept.contains(.date) { kept[.date] = HTTPDate.format(responseTime) }
    return kept
  }

  // RFC 9111 §3.2: these fields describe the stored body, which a validation doesn't change.
  private static let aboutBody: Set<HTTPHeaderName> = [.contentLength, .contentEncoding, .contentRange]

  /// Returns a stored header, updated with the header of a 304 or of a HEAD response. Every new field replaces all old
  /// values of that field (RFC 9111 §3.2).
  static func updated(_ stored: HTTPHeaders, by new: HTTPHeaders, responseTime: Date) -> HTTPHeaders {
    let dropped = excluded(new, qualifiers: false).union(aboutBody)
    var new = HTTPHeaders(new.filter { !dropped.contains($0.name) })
    if new.firstDate(.date, now: responseTime) == nil { new[.date] = HTTPDate.format(responseTime) }
    var merged = stored
    merged.remove(.age)  // it is the age of the old response
    merged.replace(with: new)
    return merged
  }
}
