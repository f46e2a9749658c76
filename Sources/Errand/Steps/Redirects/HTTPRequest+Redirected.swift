import ErrandFoundation

extension HTTPRequest {
  /// Returns the request that follows a redirect (RFC 9110 §15.4). Header fields that were dropped are not restored by
  /// later redirects. Secret fields are only sent to another origin if `mayKeep` allows it. Conditions that name a
  /// version to validate are dropped, because the target is another resource.
  func redirected(
    to target: URL, _ status: HTTPStatus, isSecret: (HTTPHeaders.Field) -> Bool,
    mayKeep: (HTTPHeaders.Field) -> Bool
  ) -> HTTPRequest {
    var next = self
    next.url = target
    if let method = status.method(after: method), method != self.method || !body.isEmpty {
      next.method = method
      next.body = .empty
      next.options.continueTimeout = nil
      next.headers = HTTPHeaders(next.headers.filter { !Self.aboutContent.contains($0.name) })
    }
    if next.method.isSafe { for name in Self.validating { next.headers.remove(name) } }
    // A URL without an origin never counts as the same origin.
    if let origin = Origin(url), origin == Origin(target) { return next }
    next.headers = HTTPHeaders(
      next.headers.filter { !Self.ofOrigin.contains($0.name) && (!isSecret($0) || mayKeep($0)) })
    if next.options.digest != nil { next.options.digest = nil }
    return next
  }

  // RFC 9110 §15.4, item 5: content-specific fields are dropped if the method changes.
  private static let aboutContent: Set<HTTPHeaderName> = [
    .contentEncoding, .contentLength, .contentRange, .contentType, .expect, .lastModified, .transferEncoding,
    "Content-Digest", "Content-Disposition", "Content-Language", "Content-Location", "Content-MD5", "Digest",
    "Repr-Digest", "Trailer",
  ]

  // RFC 9110 §15.4, item 2.4. In a write, these fields protect against overwriting, so they are kept.
  private static let validating: [HTTPHeaderName] = [.ifNoneMatch, .ifModifiedSince]

  // RFC 9110 §15.4, items 2.3 to 2.5: fields specific to the origin or resource, and validators. Secret fields are
  // checked separately. If-Range is kept with its Range (§14.2). Otherwise, the server could send part of another
  // version.
  static let ofOrigin: Set<HTTPHeaderName> = [
    .host, "Origin", "Referer", "If-Match", "If-Modified-Since", "If-None-Match", "If-Unmodified-Since",
  ]
}

extension HTTPStatus {
  /// Returns the method of the next request if the body is dropped, or `nil` if the method and the body are kept. A 303
  /// points to another resource, which is requested with GET (RFC 9110 §15.4.4). A POST after a 301 or 302 becomes a
  /// GET for historical reasons (notes in §15.4.2 and §15.4.3). 307 and 308 keep the method and the body (§15.4.8 and
  /// §15.4.9).
  fileprivate func method(after method: HTTPMethod) -> HTTPMethod? {
    switch code {
    case 301, 302: method == .post ? .get : nil
    case 303: method == .head ? .head : .get
    default: nil
    }
  }
}
