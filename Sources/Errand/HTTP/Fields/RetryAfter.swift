import ErrandFoundation

/// The `Retry-After` field of a response: seconds, or a date (RFC 9110 §10.2.3).
enum RetryAfter {
  /// The wait that the header asks for; nil where it asks for none, or is malformed.
  ///
  /// A date is counted from the response's own `Date`, so that the clocks of both ends need not agree.
  static func delay(in headers: HTTPHeaders, now: Date) -> Duration? {
    guard let value = headers[.retryAfter]?[...].trimmingSpaces() else { return nil }
    if let seconds = Int64(value) { return seconds >= 0 ? .seconds(seconds) : nil }
    // A number that is too large to be one is still no leave to come back at once.
    if !value.isEmpty, value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
      return .seconds(Int64.max)
    }
    guard let date = HTTPDate.parse(value) else { return nil }
    let reference = headers[.date].flatMap { HTTPDate.parse($0) } ?? now
    return max(.zero, .seconds(date.timeIntervalSince(reference)))
  }
}
