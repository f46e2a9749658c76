import ErrandFoundation

/// The rules for storing responses (RFC 9111 §3).
enum Storing {
  static func allows(_ demand: CacheDemand, _ response: HTTPResponse, now: Date) -> Bool {
    let (status, headers) = (response.status, response.headers)
    guard demand.isCacheable, demand.method == .get, demand.mayStore, status.code >= 200 else { return false }
    guard status != .partialContent, status != .notModified else { return false }
    // RFC 9110 §14.4: Content-Range has no meaning in a 200, but a server could have sent part of the content this way.
    guard demand.range == nil || !headers.contains(.contentRange) else { return false }
    // RFC 9110 §13.1 and §14.2: responses to conditional and range requests don't apply to other requests.
    guard !demand.isForServer, demand.range == nil || status == .ok, status != 412, status != 416 else { return false }
    guard !status.isAboutExchange else { return false }
    guard Vary(headers) != .anything else { return false }  // it would match no request (RFC 9111 §4.1)
    let control = CacheControl(headers)
    // RFC 9111 §5.2.2.3: with must-understand, ignore no-store for known statuses.
    if control.contains("must-understand") {
      guard !status.phrase.isEmpty else { return false }
    } else if control.contains("no-store") {
      return false
    }
    // public, private, Expires and max-age explicitly allow storing. s-maxage applies only to shared caches.
    return status.isHeuristicallyCacheable || headers.contains(.expires)
      || ["public", "private", "max-age"].contains { control.contains($0) }
  }

  /// Creates the stored form of a response. `request` contains the request fields named by `Vary`.
  static func stored(
    _ response: HTTPResponse, for request: HTTPHeaders, requestTime: Date, responseTime: Date, decompresses: Bool
  ) -> StoredResponse {
    StoredResponse(
      status: response.status, headers: StoredHeader.stored(response.headers, responseTime: responseTime),
      requestTime: requestTime, responseTime: responseTime,
      selecting: StoredResponse.selecting(response.headers, request), isDecompressed: decompresses)
  }
}

extension HTTPStatus {
  // RFC 6585 §3 to §6: 428, 429, 431 and 511 must not be stored. RFC 9110 §15.5.2, §15.5.8, §15.5.9 and §15.5.20, and
  // RFC 8470 §5.2: the other statuses concern only the credentials or the connection of one request. Error statuses
  // that are not listed, including 503, are stored if the server sets a lifetime (RFC 9111 §3).
  /// Whether the status concerns only this exchange, so it doesn't apply to the next request.
  fileprivate var isAboutExchange: Bool {
    switch code {
    case 401, 407, 408, 421, 425, 428, 429, 431, 511: true
    default: false
    }
  }
}
