import Foundation

/// The `Retry-After` field of a response: seconds, or a date (RFC 9110 §10.2.3).
enum RetryAfter {
  /// The wait that the header asks for; nil where it asks for none, or is malformed.
  ///
  /// A date is counted from the response's own `Date`, so that the clocks of both ends need not agree.
  static func delay(in headers: HTTPHeaders, now: Date = Date()) -> Duration? {
    guard let value = headers[.retryAfter]?[...].trimmingSpaces() else { return nil }
    if let seconds = Int64(value) { return seconds >= 0 ? .seconds(seconds) : nil }
    // A number that is too large to be one is still no leave to come back at once.
    if !value.isEmpty, value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
      return .seconds(Int64.max)
    }
    guard let date = date(String(value)) else { return nil }
    let reference = headers[.date].flatMap(date(_:)) ?? now
    return max(.zero, .seconds(date.timeIntervalSince(reference)))
  }

  /// An IMF-fixdate (RFC 9110 §5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
  private static func date(_ text: String) -> Date? {
    let format = Date.VerbatimFormatStyle(
      format: """
        \(weekday: .abbreviated), \(day: .twoDigits) \(month: .abbreviated) \(year: .defaultDigits) \
        \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\(second: .twoDigits) GMT
        """, locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian))
    return try? Date(text, strategy: format.parseStrategy)  // what is no date asks for nothing
  }
}
