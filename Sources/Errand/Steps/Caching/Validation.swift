import ErrandFoundation

/// Asking a server whether a stored response is still good, and its answer (RFC 9111 §4.3).
enum Validation {
  // RFC 9111 §4.3.1: the tag where there is one, and the date where there is one.
  /// The header fields of a request, on the condition that a stored response is no longer good.
  static func conditions(_ headers: HTTPHeaders, for stored: StoredResponse) -> HTTPHeaders {
    var headers = headers
    if let tag = stored.eTag { headers[.ifNoneMatch] = tag.text }
    if let modified = stored.headers.dateForCopy { headers[.ifModifiedSince] = modified }
    return headers
  }

  // RFC 9111 §4.3.4: the validators of the 304 choose which stored response it is about.
  /// True where a 304 is about a stored response.
  static func isAbout(_ stored: StoredResponse, _ headers: HTTPHeaders) -> Bool {
    if let line = headers.values(for: .eTag).first {
      // Also where the tag is none that is sent: the date was.
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

  // RFC 9111 §4.3.5: validators that came are the same, and so is the length where it came.
  /// True where the response to HEAD is about a stored response to GET.
  static func isAboutSame(_ stored: StoredResponse, _ head: HTTPHeaders) -> Bool {
    [HTTPHeaderName.eTag, .lastModified, .contentLength].allSatisfy { name in
      guard let value = head.values(for: name).first else { return true }
      return value == stored.headers.values(for: name).first
    }
  }

  /// A stored response after a 304, or a response to HEAD, that is about it.
  ///
  /// - Parameters:
  ///   - stored: The stored response.
  ///   - headers: The header that updates it.
  ///   - request: The fields of the request that was validated: the header may name others by which the response was chosen.
  ///   - requestTime: The moment at which the request was sent.
  ///   - responseTime: The moment at which the header came.
  static func updated(
    _ stored: StoredResponse, by headers: HTTPHeaders, for request: HTTPHeaders, requestTime: Date,
    responseTime: Date
  ) -> StoredResponse {
    let updated = StoredHeader.updated(stored.headers, by: headers, responseTime: responseTime)
    return StoredResponse(
      status: stored.status, headers: updated, requestTime: requestTime, responseTime: responseTime,
      selecting: StoredResponse.selecting(updated, request), isUnpacked: stored.isUnpacked)
  }

  /// The part of an updated response that is stored: the caller of the 304 sees all of it, later ones what may be used again.
  static func reusable(_ updated: StoredResponse) -> StoredResponse {
    StoredResponse(
      status: updated.status, headers: StoredHeader.reusable(updated.headers, responseTime: updated.responseTime),
      requestTime: updated.requestTime, responseTime: updated.responseTime, selecting: updated.selecting,
      isUnpacked: updated.isUnpacked)
  }
}

/// The URLs whose stored responses a request has made stale (RFC 9111 §4.4).
enum Invalidation {
  /// The URLs, in order: of the redirects that were followed, whatever came of them, and of the request. None where a method
  /// is safe, or its request has failed.
  ///
  /// - Parameters:
  ///   - request: The last request.
  ///   - response: Its response.
  static func urls(_ request: HTTPRequest, _ response: HTTPResponse) -> [String] {
    var urls: [String] = []
    let targets = response.redirects.dropFirst().map(\.url) + [request.url]
    for (hop, target) in zip(response.redirects, targets) where !hop.method.isSafe {
      add([target], of: hop.url, to: &urls)
    }
    guard !request.method.isSafe, response.status.kind == .success || response.status.kind == .redirection else {
      return urls
    }
    let named = [HTTPHeaderName.location, .contentLocation].compactMap { name in
      response.headers.values(for: name).first.flatMap { URL(string: $0, relativeTo: request.url)?.absoluteURL }
    }
    add(named, of: request.url, to: &urls)
    return urls
  }

  /// Adds a URL, and those that its response names.
  private static func add(_ named: [URL], of own: URL, to urls: inout [String]) {
    // RFC 9111 §4.4: not those of another origin, which could make this cache forget them.
    for url in [own] + named where url == own || Origin(url).map({ $0 == Origin(own) }) ?? false {
      let text = CacheKey.text(of: url.absoluteString)
      if !urls.contains(text) { urls.append(text) }
    }
  }
}
