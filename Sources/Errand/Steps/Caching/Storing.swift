import ErrandFoundation

/// The rules on what may be stored (RFC 9111 §3).
enum Storing {
  /// True where a response may be stored by a private cache.
  ///
  /// - Parameters:
  ///   - demand: What the request said.
  ///   - response: The response.
  ///   - now: The moment at which it came.
  static func allows(_ demand: CacheDemand, _ response: HTTPResponse, now: Date) -> Bool {
    let (status, headers) = (response.status, response.headers)
    // The method is understood, and its response is the thing itself; the status is final. A part is never stored.
    guard demand.isCacheable, demand.method == .get, demand.mayStore, status.code >= 200 else { return false }
    guard status != .partialContent, status != .notModified else { return false }
    // RFC 9110 §14.4: the field means nothing with a 200, but after a Range it may say that a server has sent a part so.
    guard demand.range == nil || !headers.contains(.contentRange) else { return false }
    // RFC 9110 §13.1 and §14.2: an answer to a condition or a range says nothing to a request without one.
    guard !demand.isForServer, demand.range == nil || status == .ok, status != 412, status != 416 else { return false }
    guard !status.isAboutExchange else { return false }
    guard Vary(headers) != .anything else { return false }  // it would fit no request (RFC 9111 §4.1)
    let control = CacheControl(headers)
    // RFC 9111 §5.2.2.3: with must-understand, no-store counts only for a status that is not known.
    if control.contains("must-understand") {
      guard !status.phrase.isEmpty else { return false }
    } else if control.contains("no-store") {
      return false
    }
    // A public or private directive, Expires or max-age; s-maxage is for shared caches.
    return status.isHeuristicallyCacheable || headers.contains(.expires)
      || ["public", "private", "max-age"].contains { control.contains($0) }
  }

  /// The response as it is stored.
  ///
  /// - Parameters:
  ///   - response: The response.
  ///   - request: The fields of the request by which it was chosen.
  ///   - requestTime: The moment at which the request was sent.
  ///   - responseTime: The moment at which the response came.
  ///   - unpacks: True where its body is unpacked.
  static func stored(
    _ response: HTTPResponse, for request: HTTPHeaders, requestTime: Date, responseTime: Date, unpacks: Bool
  ) -> StoredResponse {
    StoredResponse(
      status: response.status, headers: StoredHeader.stored(response.headers, responseTime: responseTime),
      requestTime: requestTime, responseTime: responseTime,
      selecting: StoredResponse.selecting(response.headers, request), isUnpacked: unpacks)
  }
}

extension HTTPStatus {
  // RFC 6585 §3 to §6: responses with 428, 429, 431 and 511 must not be stored. RFC 9110 §15.5.2, §15.5.8, §15.5.9 and §15.5.20, and
  // RFC 8470 §5.2: the others say something of the credentials, or of the connection, of one request. What is another status of
  // failure, 503 as well, is stored where its server says for how long (RFC 9111 §3).
  /// True for a status that says nothing of the thing itself, and so nothing to the next request.
  fileprivate var isAboutExchange: Bool {
    switch code {
    case 401, 407, 408, 421, 425, 428, 429, 431, 511: true
    default: false
    }
  }
}
