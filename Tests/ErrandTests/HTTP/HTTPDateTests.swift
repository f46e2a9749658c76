import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct HTTPDateTests {
  private static let moment = Date(timeIntervalSince1970: 784_111_777)
  private static let now = Date(timeIntervalSince1970: 1_700_000_000)  // 14 November 2023

  // RFC 9110 §5.6.7: "A recipient that parses a timestamp value in an HTTP field MUST accept all three HTTP-date
  // formats."
  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    "  Sun, 06 Nov 1994 08:49:37 GMT\t", "sun, 06 nov 1994 08:49:37 GMT",
    // RFC 9111 §4.2: "a cache recipient SHOULD match the field value case-insensitively".
    "Sun, 06 Nov 1994 08:49:37 gMT", "SUNDAY, 06-NOV-94 08:49:37 gmt", "sUN nOV  6 08:49:37 1994",
  ]) func `parses all three date formats`(text: String) {
    #expect(HTTPDate.parse(text, now: Self.now) == Self.moment)
  }

  @Test(arguments: [
    "", "0", "-1", "now", "Sun", "Sun,", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 PST",
    "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37@GMT",
    "Sun, 06 Nov 1994 08:49:37 GMT+1", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT",
    "Sun, 06 Foo 1994 08:49:37 GMT", "Fun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
    "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 30 Feb 1994 08:49:37 GMT",
    "Tue, 29 Feb 2023 00:00:00 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT",
    "Sun Nov 6 08:49:37 1994", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun, ٠٦ Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994  08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT x",
  ]) func `rejects a date in an unsupported format`(text: String) {
    #expect(HTTPDate.parse(text, now: Self.now) == nil)
  }

  // RFC 9110 §5.6.7: "Recipients of a timestamp value in rfc850-date format, which uses a two-digit year, MUST
  // interpret a timestamp that appears to be more than 50 years in the future as representing the most recent year in
  // the past that had the same last two digits."
  @Test(arguments: [("23", 2023), ("73", 2073), ("74", 1974), ("00", 2000), ("99", 1999), ("24", 2024)])
  func `maps a two-digit year to a date at most fifty years in the future`(digits: String, year: Int) throws {
    let date = try #require(HTTPDate.parse("Monday, 06-Nov-\(digits) 00:00:00 GMT", now: Self.now))
    #expect(HTTPDate.civil(Int(date.timeIntervalSince1970 / 86_400)).year == year)
  }

  @Test func `applies the fifty-year limit of two-digit years to the exact day`() throws {
    // 13 November 2073 is less than fifty years away, and 16 November 2073 is more than fifty years away.
    let near = try #require(HTTPDate.parse("Monday, 13-Nov-73 00:00:00 GMT", now: Self.now))
    let far = try #require(HTTPDate.parse("Thursday, 16-Nov-73 00:00:00 GMT", now: Self.now))
    #expect(near > Self.now && far < Self.now)
  }

  @Test func `parses second 60 as the first second of the next minute`() {
    #expect(
      HTTPDate.parse("Sat, 31 Dec 2016 23:59:60 GMT") == HTTPDate.parse("Sun, 01 Jan 2017 00:00:00 GMT"))
  }

  // RFC 9110 §5.6.7: "When a sender generates a field that contains one or more timestamps defined as HTTP-date, the
  // sender MUST generate those timestamps in the IMF-fixdate format."
  @Test func `writes a date in the IMF-fixdate format and parses it back`() {
    #expect(HTTPDate.format(Self.moment) == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(HTTPDate.format(Date(timeIntervalSince1970: 0.9)) == "Thu, 01 Jan 1970 00:00:00 GMT")
    #expect(HTTPDate.format(Date(timeIntervalSince1970: -0.1)) == "Wed, 31 Dec 1969 23:59:59 GMT")
    #expect(HTTPDate.format(.distantFuture).hasSuffix("GMT"))
    #expect(HTTPDate.format(Date(timeIntervalSince1970: 1e300)) == "Fri, 31 Dec 9999 23:59:59 GMT")
    for day in stride(from: -719_000, through: 2_900_000, by: 977) {
      let date = Date(timeIntervalSince1970: Double(day) * 86_400 + Double(abs(day) % 86_400))
      #expect(HTTPDate.parse(HTTPDate.format(date)) == date)
    }
  }
}
