package import ErrandFoundation

/// The `Retry-After` field of a response, which contains a number of seconds or a date (RFC 9110 §10.2.3).
package enum RetryAfter {
  /// Returns the requested delay, or `nil` if the field is missing or malformed. If there are several values, returns
  /// the longest, because a late retry is better than a rejected one.
  ///
  /// Dates are compared with the `Date` of the response, so the client's clock doesn't have to be right.
  package static func delay(in headers: HTTPHeaders, now: Date) -> Duration? {
    let reference = headers.firstDate(.date, now: now) ?? now
    return headers.values(for: .retryAfter).compactMap { longest(of: $0, now: now, since: reference) }.max()
  }

  /// Returns the longest delay in a line. A date contains a comma, so two list members can form one value.
  private static func longest(of line: String, now: Date, since reference: Date) -> Duration? {
    let pieces = line.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { Substring($0) }
    var delays: [Duration] = []
    var index = 0
    while index < pieces.count {
      if let seconds = seconds(pieces[index].trimmingSpaces()) {
        delays.append(seconds)
      } else {
        let isPair = index + 1 < pieces.count
        let paired = isPair ? HTTPDate.parse("\(pieces[index]),\(pieces[index + 1])", now: now) : nil
        if paired != nil { index += 1 }
        if let date = paired ?? HTTPDate.parse(pieces[index], now: now) {
          delays.append(max(.zero, .seconds(date.timeIntervalSince(reference))))
        }
      }
      index += 1
    }
    return delays.max()
  }

  /// Parses a number of seconds. Accepts a fraction or a unit, such as `1.5` or `30s`: some servers send them, although
  /// the grammar doesn't allow them.
  private static func seconds(_ text: Substring) -> Duration? {
    let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    let whole = text.utf8.prefix(while: isDigit)
    guard !whole.isEmpty else { return nil }
    var rest = text.utf8[whole.endIndex...]
    var fraction = rest.prefix(0)
    if rest.first == UInt8(ascii: ".") {
      fraction = rest.dropFirst().prefix(while: isDigit)
      rest = rest[fraction.endIndex...]
    }
    guard ["", "s", "sec", "secs", "second", "seconds"].contains(Substring(rest).trimmingSpaces().lowercased()) else {
      return nil
    }
    // If the number overflows, use the maximum rather than retry immediately.
    let seconds = Int64(Substring(whole)) ?? .max
    let digits = (fraction.map { Int64($0 - UInt8(ascii: "0")) } + [0, 0, 0]).prefix(3)
    return .seconds(seconds) + .milliseconds(digits.reduce(0) { $0 * 10 + $1 })
  }
}
