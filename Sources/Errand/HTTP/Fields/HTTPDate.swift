package import ErrandFoundation

/// Parses and formats dates in header fields (RFC 9110 §5.6.7).
package enum HTTPDate {
  /// Parses a date in one of HTTP's three date formats, ignoring case (RFC 9111 §4.2). Returns `nil` for any other
  /// format or a time zone other than GMT. `now` is used to interpret two-digit years.
  package static func parse(_ text: some StringProtocol, now: Date = Date()) -> Date? {
    var scanner = DateScanner(text)
    return scanner.date(now: now)
  }

  /// Formats a date, such as `Sun, 06 Nov 1994 08:49:37 GMT`. Fractions of a second are dropped.
  static func format(_ date: Date) -> String {
    let seconds = Int(max(earliest, min(latest, date.timeIntervalSince1970.rounded(.down))))
    let day = floorDivided(seconds, by: 86_400)
    let second = seconds - day * 86_400
    let (year, month, dayOfMonth) = civil(day)
    let weekday = weekdays[((day + 4) % 7 + 7) % 7]  // the epoch was a Thursday
    let time = [second / 3600, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
    return "\(weekday), \(padded(dayOfMonth, 2)) \(months[month - 1]) \(padded(year, 4)) \(time) GMT"
  }

  // The earliest and latest dates with a year from 0 to 9999.
  private static let earliest = -62_167_219_200.0
  private static let latest = 253_402_300_799.0

  static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  private static func floorDivided(_ number: Int, by divisor: Int) -> Int {
    number >= 0 ? number / divisor : -((divisor - 1 - number) / divisor)
  }

  // In both functions, years start in March, so that the leap day is the last day of the year. A cycle of 400 years has
  // 146,097 days.

  /// Returns the number of days from 1 January 1970 to a date in the Gregorian calendar.
  static func day(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = floorDivided(year, by: 400)
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// Returns the Gregorian date of a day, given as the number of days since 1 January 1970.
  static func civil(_ day: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = day + 719_468
    let era = floorDivided(shifted, by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = ((5 * dayOfYear + 2) / 153 + 2) % 12 + 1
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * ((month + 9) % 12) + 2) / 5 + 1)
  }
}

private struct DateScanner {
  private var rest: ArraySlice<UInt8>

  init(_ text: some StringProtocol) {
    rest = Array(text.utf8)[...]
    while let first = rest.first, first == blank || first == UInt8(ascii: "\t") { rest.removeFirst() }
    while let last = rest.last, last == blank || last == UInt8(ascii: "\t") { rest.removeLast() }
  }

  private let blank = UInt8(ascii: " ")

  mutating func date(now: Date) -> Date? {
    let word = word()
    guard HTTPDate.weekdays.contains(String(word.prefix(3)).capitalizedASCII) else { return nil }
    guard skip(",") else { return word.count == 3 ? asctime() : nil }
    guard skip(" ") else { return nil }
    return word.count == 3 ? fixdate() : word.lowercased().hasSuffix("day") ? rfc850(now: now) : nil
  }

  /// Parses `06 Nov 1994 08:49:37 GMT`, the part after the day of the week.
  private mutating func fixdate() -> Date? {
    guard let day = number(2), skip(" "), let month = month(), skip(" "), let year = number(4), skip(" "),
      let time = time(), skip(" GMT"), rest.isEmpty
    else { return nil }
    return date(year, month, day, time)
  }

  /// Parses `06-Nov-94 08:49:37 GMT`, the part after the day of the week.
  private mutating func rfc850(now: Date) -> Date? {
    guard let day = number(2), skip("-"), let month = month(), skip("-"), let year = number(2), skip(" "),
      let time = time(), skip(" GMT"), rest.isEmpty
    else { return nil }
    // RFC 9110 §5.6.7: a date that seems to be more than 50 years in the future is in the most recent past year with
    // the same last two digits.
    let present = HTTPDate.civil(Int((now.timeIntervalSince1970 / 86_400).rounded(.down))).year
    var full = present - present % 100 + 100 + year
    while full > present + 50 { full -= 100 }
    guard let date = date(full, month, day, time) else { return nil }
    let limit = now.addingTimeInterval(50 * 365.2425 * 86_400)
    return date > limit ? self.date(full - 100, month, day, time) : date
  }

  /// Parses `Nov  6 08:49:37 1994`, the part after the day of the week.
  private mutating func asctime() -> Date? {
    guard skip(" "), let month = month(), skip(" ") else { return nil }
    guard let day = skip(" ") ? number(1) : number(2), skip(" "), let time = time(), skip(" "), let year = number(4),
      rest.isEmpty
    else { return nil }
    return date(year, month, day, time)
  }

  private func date(_ year: Int, _ month: Int, _ day: Int, _ time: Int) -> Date? {
    let number = HTTPDate.day(year, month, day)
    guard day >= 1, HTTPDate.civil(number) == (year, month, day) else { return nil }  // reject 30 February
    return Date(timeIntervalSince1970: Double(number * 86_400 + time))
  }

  /// Parses a time such as `08:49:37`. A second of 60 is a leap second.
  private mutating func time() -> Int? {
    guard let hour = number(2), skip(":"), let minute = number(2), skip(":"), let second = number(2), hour < 24,
      minute < 60, second <= 60
    else { return nil }
    return hour * 3600 + minute * 60 + second
  }

  private mutating func month() -> Int? {
    guard let index = HTTPDate.months.firstIndex(of: word().capitalizedASCII) else { return nil }
    return index + 1
  }

  private mutating func number(_ count: Int) -> Int? {
    let digits = rest.prefix(count)
    guard digits.count == count, let number = DeltaSeconds.parse(String(decoding: digits, as: UTF8.self)) else {
      return nil
    }
    rest = rest.dropFirst(count)
    return number
  }

  private mutating func word() -> String {
    let letters = rest.prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }
    rest = rest[letters.endIndex...]
    return String(decoding: letters, as: UTF8.self)
  }

  private mutating func skip(_ text: StaticString) -> Bool {
    let isNext = text.withUTF8Buffer { text in
      rest.count >= text.count && zip(rest, text).allSatisfy { $0.lowercasedASCII == $1.lowercasedASCII }
    }
    if isNext { rest = rest.dropFirst(text.utf8CodeUnitCount) }
    return isNext
  }
}

extension UInt8 {
  fileprivate var lowercasedASCII: UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
  }
}

extension String {
  fileprivate var capitalizedASCII: String { prefix(1).uppercased() + dropFirst().lowercased() }
}
