import Testing

@testable import Errand

/// Entity tags, `Vary`, `Age` and ranges.
@Suite(.timeLimit(.minutes(1))) struct CacheFieldsTests {
  // RFC 9110 §8.8.3: entity-tag = [ weak ] opaque-tag; weak is case-sensitive.
  @Test func `parses entity tags strictly`() throws {
    #expect(EntityTag("\"abc\"")?.isWeak == false)
    #expect(EntityTag(" W/\"abc\" ")?.isWeak == true && EntityTag(" W/\"abc\" ")?.text == "W/\"abc\"")
    #expect(EntityTag("\"\"") != nil && EntityTag("\"a,b\\c\"") != nil && EntityTag("\"ä\"") != nil)
    for text in ["", "abc", "\"", "\"abc", "abc\"", "w/\"abc\"", "W/abc", "\"a b\"", "\"a\"b\"", "*", "W/"] {
      #expect(EntityTag(text) == nil, "\(text)")
    }
  }

  // RFC 9110 §8.8.3: a tag requires quotes. Browsers send a malformed tag back unchanged.
  @Test(arguments: [
    "abc", "W/abc", "'abc'", "\"abc", "abc\"", "w/\"abc\"", "\"a b\"", "\"a\"b\"", "5d8c72a5:0", "a b", "1-2,gzip",
    "W/", "{1}",
  ]) func `parses a malformed tag as a weak tag with the same text`(text: String) throws {
    let tag = try #require(EntityTag(lenient: " \(text) "))
    #expect(tag.text == text && tag.isWeak && EntityTag(text) == nil)
    #expect(tag.matchesWeakly(tag) && !tag.matchesStrongly(tag))
    #expect(EntityTag("\"abc\"")?.matchesWeakly(tag) == false, "the quotes are part of a tag")
    #expect(text.contains(",") || EntityTagCondition([text]).names(tag))
  }

  @Test(arguments: [
    "", " ", "*", "a, *", "\"a\", \"b\"", "\"a\",", ",", "caf\u{FFFD}", String(repeating: "e", count: 5000),
  ])
  func `rejects an empty, ambiguous or oversized tag`(text: String) {
    #expect(EntityTag(lenient: text) == nil)
  }

  @Test func `lenient and strict parsing of a valid tag give the same result`() throws {
    #expect(
      EntityTag(lenient: "\"abc\"") == EntityTag("\"abc\"") && EntityTag(lenient: "W/\"a\"") == EntityTag("W/\"a\""))
  }

  // The example table in RFC 9110 §8.8.3.2.
  @Test(arguments: [
    ("W/\"1\"", "W/\"1\"", false, true), ("W/\"1\"", "W/\"2\"", false, false), ("W/\"1\"", "\"1\"", false, true),
    ("\"1\"", "\"1\"", true, true),
  ]) func `compares tags strongly and weakly`(left: String, right: String, strongly: Bool, weakly: Bool) throws {
    let (left, right) = (try #require(EntityTag(left)), try #require(EntityTag(right)))
    #expect(left.matchesStrongly(right) == strongly && left.matchesWeakly(right) == weakly)
    #expect(right.matchesStrongly(left) == strongly && right.matchesWeakly(left) == weakly)
  }

  @Test func `a condition matches a listed tag, and an asterisk matches any tag`() throws {
    let tag = EntityTag("\"b\"")
    #expect(EntityTagCondition(["\"a\", W/\"b\"", "\"c\""]).names(tag))
    #expect(!EntityTagCondition(["\"a\", \"c\", broken"]).names(tag))
    #expect(EntityTagCondition(["*"]).names(tag) && EntityTagCondition(["*"]).names(nil))
    #expect(!EntityTagCondition(["\"a,b\""]).names(tag) && !EntityTagCondition([]).names(nil))
  }

  // RFC 9110 §12.5.5: Vary = #( "*" / field-name )
  @Test func `Vary lists field names, and an asterisk means any field`() {
    #expect(Vary([:]) == .fields([]))
    #expect(Vary(["Vary": "Accept, accept-language", "vary": ",X"]) == .fields(["accept", "Accept-Language", "x"]))
    #expect(Vary(["Vary": "Accept", "Vary": "*"]) == .anything)
  }

  // RFC 9111 §4.1: fields match if they can be transformed by "adding or removing whitespace, where allowed in the
  // header field's syntax" or "combining multiple header field lines with the same field name".
  @Test func `ignores whitespace and the division into lines when comparing field values`() {
    let one: HTTPHeaders = ["Accept": "a , b", "accept": "c"]
    #expect(Vary.value(of: "ACCEPT", in: one) == Vary.value(of: "accept", in: ["Accept": "a,b,\tc"]))
    #expect(Vary.value(of: "accept", in: one) != Vary.value(of: "accept", in: ["Accept": "a,b"]))
    #expect(Vary.value(of: "accept", in: [:]) == nil && Vary.value(of: "x", in: ["x": ""]) == "")
  }

  // RFC 9111 §5.1: "a cache encountering a message with a list-based Age field value SHOULD use the first member of the
  // field value, discarding subsequent ones. If the field value (...) is invalid (...), a cache SHOULD ignore the
  // field."
  @Test func `uses the first of several Age values and ignores an invalid value`() {
    #expect(Age.seconds(in: ["Age": "7"]) == 7 && Age.seconds(in: ["Age": "7, 100"]) == 7)
    #expect(Age.seconds(in: ["Age": "7", "age": "100"]) == 7)
    #expect(Age.seconds(in: ["Age": "99999999999999999999"]) == DeltaSeconds.largest)
    for text in ["", "-1", "1.5", "x", "7 8"] { #expect(Age.seconds(in: ["Age": text]) == nil) }
    #expect(Age.seconds(in: [:]) == nil)
  }

  // RFC 9110 §14.1.2.
  @Test(arguments: [
    ("bytes=0-499", 0..<500), ("bytes=500-999", 500..<1000), ("bytes=-500", 9500..<10_000),
    ("bytes=9500-", 9500..<10_000),
    ("Bytes= 0-0 ", 0..<1), ("bytes=-99999", 0..<10_000), ("bytes=9999-99999", 9999..<10_000),
    ("bytes=0-999999999999999999", 0..<10_000),
  ]) func `resolves a range to byte positions`(text: String, positions: Range<Int>) {
    #expect(ByteRange(["Range": text])?.positions(of: 10_000) == positions)
  }

  @Test(arguments: [
    (ByteRange(0..<100), "bytes=0-99"), (ByteRange(5...5), "bytes=5-5"), (ByteRange(100...), "bytes=100-"),
    (.first(10), "bytes=0-9"), (.last(500), "bytes=-500"), (ByteRange(0...Int.max), "bytes=0-\(Int.max)"),
  ]) func `formats a range as a header value`(range: ByteRange, text: String) {
    #expect("\(range)" == text && range.isValid)
    if text.utf8.count < 20 { #expect(ByteRange(["Range": text]) == range) }
  }

  @Test func `an empty range and a range before the first byte are invalid`() {
    for range in [ByteRange(7..<7), .first(0), .first(-1), .last(0), .last(-1), ByteRange((-1)...), ByteRange(-5...5)] {
      #expect(!range.isValid)
    }
    #expect(!ByteRange(Int.min..<Int.min).isValid)
  }

  @Test(arguments: ["bytes=10000-", "bytes=-0"]) func `returns nil for an unsatisfiable range`(text: String) {
    let range = ByteRange(["Range": text])
    #expect(range != nil && range?.positions(of: 10_000) == nil)
  }

  @Test(arguments: [
    "", "bytes", "bytes=", "bytes=-", "bytes=5-4", "bytes=a-b", "bytes=0-1,3-4", "lines=0-1", "bytes=1--2",
    "bytes=+1-2",
    "bytes=9999999999999999999-",
  ]) func `rejects a Range field unless it contains a single byte range`(text: String) {
    #expect(ByteRange(["Range": text]) == nil)
    #expect(ByteRange(["Range": "bytes=0-1", "range": "bytes=0-1"]) == nil)
  }
}
