import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct CookieDateTests {
  private static let moment = Date(timeIntervalSince1970: 784_111_777)  // 6 November 1994, 08:49:37

  // RFC 6265bis §5.1.1: "Using the grammar below, divide the cookie-date into date-tokens"; "Process each date-token
  // sequentially in the order the date-tokens appear in the cookie-date".
  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    "08:49:37 6 november 1994", "1994 nov 06 8:49:37", "6/NOVEMBRE/94 8:49:37", "Sun, 6th 08:49:37.5 Nov. 1994 PST",
    "\tNov;6;;1994;08:49:37;\t", "6 nov 94x 08:49:37Z 2031 12", "x Sun! 06 Nov 1994 08:49:37 +0100",
  ]) func `parses date components in any order, with any delimiters and trailing text`(text: String) {
    #expect(CookieDate.parse(text) == Self.moment)
  }

  // §5.1.1: "If the year-value is greater than or equal to 70 and less than or equal to 99, increment the year-value by
  // 1900." "If the year-value is greater than or equal to 0 and less than or equal to 69, increment the year-value by
  // 2000."
  @Test(arguments: [
    ("70", 1970), ("99", 1999), ("00", 2000), ("69", 2069), ("1601", 1601), ("9999", 9999), ("070", 1970),
  ])
  func `maps a two-digit year to the years 1970 through 2069`(digits: String, year: Int) throws {
    let date = try #require(CookieDate.parse("6 Nov \(digits) 08:49:37"))
    #expect(HTTPDate.civil(Int((date.timeIntervalSince1970 / 86_400).rounded(.down))).year == year)
  }

  // §5.1.1: "Abort these steps and fail to parse the cookie-date if: at least one of the found-day-of-month,
  // found-month, found-year, or found-time flags is not set", or a value is out of its bounds; "If no such date exists,
  // abort these steps".
  @Test(arguments: [
    "", "tomorrow", "6 Nov 1994", "6 Nov 08:49:37", "Nov 1994 08:49:37", "6 1994 08:49:37", "0 Nov 1994 08:49:37",
    "32 Nov 1994 08:49:37", "31 Nov 1994 08:49:37", "29 Feb 1995 08:49:37", "6 Nov 1600 08:49:37",
    "6 Nov 1994 24:00:00",
    "6 Nov 1994 08:60:37", "6 Nov 1994 08:49:60", "6 Nov 1994 08:49:377", "6 Nov 1994 008:49:37", "6 Nov 1994 08:49",
    "6 Nov 19945 08:49:37", "006 Nov 1994 08:49:37", "6 Nnv 1994 08:49:37", "٦ Nov 1994 08:49:37",
    "6 Nov 1994 0８:49:37",
  ]) func `rejects a date with a missing or invalid component`(text: String) {
    #expect(CookieDate.parse(text) == nil)
  }

  @Test func `accepts 29 February only in a leap year`() {
    #expect(CookieDate.parse("29 Feb 1996 00:00:00") == Date(timeIntervalSince1970: 825_552_000))
    #expect(CookieDate.parse("29 Feb 1900 00:00:00") == nil)
  }
}
