import ErrandFoundation

/// Parses cookie dates, which have their own grammar (RFC 6265bis §5.1.1): the parts can be in any order, with various
/// delimiters, and years can have two digits.
enum CookieDate {
  static func parse(_ text: some StringProtocol) -> Date? {
    var parts = CookieDateParts()
    for token in Array(text.utf8).split(whereSeparator: isDelimiter) { parts.take(token) }
    return parts.date
  }

  // delimiter = %x09 / %x20-2F / %x3B-40 / %x5B-60 / %x7B-7E
  private static func isDelimiter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
    default: false
    }
  }
}

private struct CookieDateParts {
  private typealias Token = ArraySlice<UInt8>

  private var time: (hour: Int, minute: Int, second: Int)?
  private var day: Int?
  private var month: Int?
  private var year: Int?

  /// Stores the token as the first missing part that it matches, in the order of §5.1.1.
  mutating func take(_ token: ArraySlice<UInt8>) {
    if time == nil, let found = Self.time(token) {
      time = found
    } else if day == nil, let found = Self.number(token, digits: 1...2) {
      day = found
    } else if month == nil, let found = Self.month(token) {
      month = found
    } else if year == nil, let found = Self.number(token, digits: 2...4) {
      year = found
    }
  }

  var date: Date? {
    guard let time, let day, let month, var year else { return nil }
    if (70...99).contains(year) { year += 1900 }
    if (0...69).contains(year) { year += 2000 }
    guard year >= 1601, (1...31).contains(day), time.hour <= 23, time.minute <= 59, time.second <= 59 else {
      return nil
    }
    let days = HTTPDate.day(year, month, day)
    guard HTTPDate.civil(days) == (year, month, day) else { return nil }
    return Date(
      timeIntervalSince1970: Double(days * 86_400 + time.hour * 3600 + time.minute * 60 + time.second))
  }

  // hms-time = time-field ":" time-field ":" time-field, optionally followed by a non-digit and any text
  private static func time(_ token: Token) -> (hour: Int, minute: Int, second: Int)? {
    let fields = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
    guard fields.count == 3, fields[0].allSatisfy(isDigit), fields[1].allSatisfy(isDigit),
      let hour = number(fields[0], digits: 1...2), let minute = number(fields[1], digits: 1...2),
      let second = number(fields[2], digits: 1...2)
    else { return nil }
    return (hour, minute, second)
  }

  // month = ( "jan" / "feb" / … ) *OCTET
  private static func month(_ token: Token) -> Int? {
    let name = String(decoding: token.prefix(3), as: UTF8.self).lowercased()
    return HTTPDate.months.firstIndex { $0.lowercased() == name }.map { $0 + 1 }
  }

  private static func number(_ token: Token, digits: ClosedRange<Int>) -> Int? {
    let number = token.prefix(while: isDigit)
    guard digits.contains(number.count) else { return nil }
    return number.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
}
