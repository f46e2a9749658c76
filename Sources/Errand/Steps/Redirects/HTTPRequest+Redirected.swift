import ErrandFoundation

extension HTTPRequest {
  /// The request that follows a redirect of this one, by RFC 9110 §15.4.
  ///
  /// - Parameters:
  ///   - target: The URL that the response points to.
  ///   - status: The status of the response.
  ///   - isSecret: True for a field that stays at the origin.
  ///   - mayKeep: True for a secret field that may go to the target all the same.
  /// - Returns: The request. What was dropped on the way is not in it, and so does not come back with a later hop.
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
    // Without an origin on either side there is none that is the same.
    if let origin = Origin(url), origin == Origin(target) { return next }
    next.headers = HTTPHeaders(
      next.headers.filter { !Self.ofOrigin.contains($0.name) && (!isSecret($0) || mayKeep($0)) })
    if next.options.digest != nil { next.options.digest = nil }
    return next
  }

  // RFC 9110 §15.4, item 5: with another method, content-specific fields go.
  private static let aboutContent: Set<HTTPHeaderName> = [
    .contentEncoding, .contentLength, .contentRange, .contentType, .expect, .lastModified, .transferEncoding,
    "Content-Digest", "Content-Disposition", "Content-Language", "Content-Location", "Content-MD5", "Digest",
    "Repr-Digest", "Trailer",
  ]

  // RFC 9110 §15.4, items 2.3 to 2.5: fields that are specific to the origin or the resource, and validators. Secret ones are no
  // list. If-Range stays with the Range that it goes with (§14.2): without it a part of another version would come.
  static let ofOrigin: Set<HTTPHeaderName> = [
    .host, "Origin", "Referer", "If-Match", "If-Modified-Since", "If-None-Match", "If-Unmodified-Since",
  ]
}

extension HTTPStatus {
  /// The method of the next request, where it is another one and has no body: 303 asks for the answer elsewhere (RFC 9110
  /// §15.4.4), and a POST that is 301 or 302 becomes a GET, as it always did (§15.4.2 and §15.4.3, their notes). 307 and 308
  /// keep method and body (§15.4.8 and §15.4.9).
  fileprivate func method(after method: HTTPMethod) -> HTTPMethod? {
    switch code {
    case 301, 302: method == .post ? .get : nil
    case 303: method == .head ? .head : .get
    default: nil
    }
  }
}
