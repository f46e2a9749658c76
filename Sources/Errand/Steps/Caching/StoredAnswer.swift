import ErrandFoundation

/// The response that a stored one gives to a request: its status, its header, and the requested part of the body.
struct StoredAnswer {
  let status: HTTPStatus
  private(set) var headers: HTTPHeaders
  /// The bytes of the body; nil where it has none.
  private(set) var range: Range<Int>?

  /// Nil where the stored response has nothing of the requested part.
  init?(_ entry: CacheEntry, _ demand: CacheDemand) {
    headers = entry.response.headers
    if demand.isConditional, demand.isSatisfied(by: entry.response) {
      status = .notModified
      headers.remove(.contentLength)
    } else if demand.method == .head {
      status = entry.response.status
    } else if let wanted = demand.range {
      // RFC 9110 §14.2 and §15.3.7.
      guard let positions = wanted.positions(of: entry.length) else { return nil }
      status = .partialContent
      headers[.contentRange] = "bytes \(positions.lowerBound)-\(positions.upperBound - 1)/\(entry.length)"
      headers[.contentLength] = "\(positions.count)"
      range = positions
    } else {
      status = entry.response.status
      range = 0..<entry.length
    }
  }

  /// Adds what the cache says of the response.
  ///
  /// - Parameters:
  ///   - age: Its age; nil where it was just validated.
  ///   - cacheStatus: What the cache did.
  mutating func note(age: Duration?, _ cacheStatus: CacheStatus) {
    // RFC 9111 §4: a response that is used without validation states its age.
    headers.reserve(headers.count + 2)
    if let age { headers[.age] = String(max(0, age.wholeSeconds)) }
    headers.add(cacheStatus.description, for: .cacheStatus)
  }
}
