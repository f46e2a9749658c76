import ErrandFoundation

/// A response created from a stored response: its status, its header, and the requested part of its body.
struct StoredAnswer {
  let status: HTTPStatus
  private(set) var headers: HTTPHeaders
  private(set) var range: Range<Int>?

  /// Returns `nil` if the stored response doesn't contain the requested range.
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

  /// Sets `Age`, unless `age` is `nil` because the response was just validated.
  mutating func note(age: Duration?) {
    headers.reserve(headers.count + 2)  // for Age and Cache-Status
    // RFC 9111 §4: a response that is used without validation must have an Age field.
    if let age { headers[.age] = String(max(0, age.wholeSeconds)) }
  }
}
