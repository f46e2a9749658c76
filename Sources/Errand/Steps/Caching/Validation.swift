import ErrandFoundation

/// Validates stored responses with the server (RFC 9111 §4.3).
enum Validation {
  /// Returns the header of a conditional request, with the stored `ETag` and date if available (RFC 9111 §4.3.1).
  static func conditions(_ headers: HTTPHeaders, for stored: StoredResponse) -> HTTPHeaders {
    var headers = headers
    if let tag = stored.eTag { headers[.ifNoneMatch] = tag.text }
    if let modified = stored.headers.dateForCopy { headers[.ifModifiedSince] = modified }
    return headers
  }

  /// Whether a 304 applies to a stored response, according to their validators (RFC 9111 §4.3.4).
  static func isAbout(_ stored: StoredResponse, _ headers: HTTPHeaders) -> Bool {
    if let line = headers.values(for: .eTag).first {
      // Also compare tags that can't be sent. In that case, the request contained a date instead.
      if let own = stored.headers.values(for: .eTag).first, own.hasSameBytes(as: line) { return true }
      guard let tag = EntityTag(lenient: line), let own = stored.eTag else {
        return false
      }
      return tag.isWeak ? tag.matchesWeakly(own) : tag.matchesStrongly(own) || (own.isWeak && tag.matchesWeakly(own))
    }
    guard let modified = headers.values(for: .lastModified).first else { return true }
    guard let own = stored.headers.values(for: .lastModified).first else { return stored.eTag != nil }
    return modified == own
  }

  /// Whether a HEAD response matches a stored GET response: its validators and its length, if present, are the same
  /// (RFC 9111 §4.3.5).
  static func isAboutSame(_ stored: StoredResponse, _ head: HTTPHeaders) -> Bool {
    [HTTPHeaderName.eTag, .lastModified, .contentLength].allSatisfy { name in
      guard let value = head.values(for: name).first else { return true }
      return value == stored.headers.values(for: name).first
    }
  }

  /// Returns a stored response, updated after a 304 or a matching HEAD response. `request` is needed because `Vary` may
  /// have changed.
  static func updated(
    _ stored: StoredResponse, by headers: HTTPHeaders, for request: HTTPHeaders, requestTime: Date,
    responseTime: Date
  ) -> StoredResponse {
    let updated = StoredHeader.updated(stored.headers, by: headers, responseTime: responseTime)
    return StoredResponse(
      status: stored.status, headers: updated, requestTime: requestTime, responseTime: responseTime,
      selecting: StoredResponse.selecting(updated, request), isDecompressed: stored.isDecompressed)
  }

  /// Returns the part of an updated response to store. Only the first caller receives the fields that must not be
  /// reused.
  static func reusable(_ updated: StoredResponse) -> StoredResponse {
    StoredResponse(
      status: updated.status, headers: StoredHeader.reusable(updated.headers, responseTime: updated.responseTime),
      requestTime: updated.requestTime, responseTime: updated.responseTime, selecting: updated.selecting,
      isDecompressed: updated.isDecompressed)
  }
}

/// Finds the URLs whose stored responses are invalidated by a request (RFC 9111 §4.4).
enum Invalidation {
  /// Returns the URLs to invalidate, in order: the request's URL and the URLs named in its response, if the method of the
  /// request is unsafe and the server may have processed it, for example after a 504.
  static func urls(_ request: HTTPRequest, _ response: HTTPResponse) -> [String] {
    guard !request.method.isSafe, response.status.kind != .clientError else { return [] }
    let named = [HTTPHeaderName.location, .contentLocation].compactMap { name in
      response.headers.values(for: name).first.flatMap { URL(string: $0, relativeTo: request.url)?.absoluteURL }
    }
    var urls: [String] = []
    // RFC 9111 §4.4: skip URLs at other origins. Otherwise, this origin could clear their cached responses.
    let own = request.url
    for url in [own] + named where url == own || Origin(url).map({ $0 == Origin(own) }) ?? false {
      let text = CacheKey.text(of: url.absoluteString)
      if !urls.contains(text) { urls.append(text) }
    }
    return urls
  }
}
