import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct CacheControlTests {
  private func read(_ lines: String...) -> CacheControl {
    CacheControl(HTTPHeaders(lines.map { .init(.cacheControl, $0) }))
  }

  // RFC 9111 §5.2: "Cache directives are identified by a token, to be compared case-insensitively, and have an optional
  // argument that can use both token and quoted-string syntax."
  @Test func `parses directives in any case, with quoted and unquoted arguments`() {
    let read = read("Max-Age=60, PRIVATE", "s-maxage=\"10\", no-cache=\"Set-Cookie, X-Id\",x=\"a\\\"b\"")
    #expect(read.seconds("max-age") == .stated(60) && read.contains("private"))
    #expect(read.seconds("s-maxage") == .stated(10))
    #expect(read.fieldNames("no-cache") == ["Set-Cookie", "x-id"] && !read.isUnqualified("no-cache"))
    #expect(read.directives.last?.argument == "a\"b")
    #expect(read.seconds("max-stale") == .absent && !read.contains("max"))
  }

  @Test func `an unqualified directive takes precedence over a directive with field names`() {
    #expect(read("no-cache=\"X-Id\", no-cache").isUnqualified("no-cache"))
  }

  // RFC 9111 §4.2.1: "Caches are encouraged to consider responses that have invalid freshness information (e.g., a
  // max-age directive with non-integer content) to be stale."
  @Test(arguments: [
    "max-age", "max-age=", "max-age=soon", "max-age=-1", "max-age=1.5", "max-age= 5", "max-age =5", "max-age=5 6",
    "max-age=\"5", "max-age=٥", "max-age=+5", "max-age='5'",
  ]) func `reports an invalid number as malformed, not absent`(text: String) {
    #expect(read(text).seconds("max-age") == .malformed)
  }

  // RFC 9111 §4.2.1: "When there is more than one value present for a given directive (...), either the first
  // occurrence should be used or the response should be considered stale."
  @Test func `uses the first value of a repeated directive`() {
    #expect(read("max-age=1, max-age=100").seconds("max-age") == .stated(1))
    #expect(read("max-age=x", "max-age=100").seconds("max-age") == .malformed)
  }

  // RFC 9111 §1.2.2: "If a cache receives a delta-seconds value greater than the greatest integer it can represent, or
  // if any of its subsequent calculations overflows, the cache MUST consider the value to be 2147483648 (2^31) or the
  // greatest positive integer it can conveniently represent."
  @Test func `clamps a number that is too large`() {
    #expect(read("max-age=2147483648").seconds("max-age") == .stated(2_147_483_648))
    #expect(read("max-age=2147483649").seconds("max-age") == .stated(2_147_483_648))
    #expect(read("max-age=" + String(repeating: "9", count: 5000)).seconds("max-age") == .stated(2_147_483_648))
    #expect(read("max-age=007").seconds("max-age") == .stated(7))
  }

  @Test func `skips invalid directives and keeps the valid ones`() {
    let read = read(", ,;, =5, \"quoted\", no-store , max-age=5,,")
    #expect(read.directives.map(\.name) == ["no-store", "max-age"])
    #expect(CacheControl([:]).directives.isEmpty)
  }

  @Test func `treats commas and directives in a quoted argument as text`() {
    let read = read("x=\"no-store, max-age=0\", max-age=9")
    #expect(!read.contains("no-store") && read.seconds("max-age") == .stated(9))
  }

  @Test func `parses a megabyte of directives`() {
    let text = String(repeating: "a=\"\\\",", count: 100_000) + String(repeating: ",max-age=1", count: 50_000)
    #expect(read(text).directives.count <= 150_000)
    #expect(read(String(repeating: "max-age=1,", count: 100_000)).directives.count == 100_000)
  }

  // If the parser missed `no-store`, the cache would store a response that it must not store.
  @Test(arguments: [
    "max-age=60; no-store", "private no-store", "max-age=60 no-store", "no-store;max-age=60", "public;no-store",
    "max-age=60,no-store;", "max-age=\"60, no-store", "\"no-store", "max-age=60;NO-STORE", "max-age=60\tno-store",
  ])
  func `recognizes no-store in a malformed field`(_ line: String) {
    #expect(read(line).contains("no-store"))
  }
}
