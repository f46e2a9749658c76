import Testing

@testable import Errand

/// Single-value fields that a proxy might repeat (RFC 9110 §5.3 and §8.6).
@Suite(.timeLimit(.minutes(1))) struct RepeatedFieldTests {
  @Test func `treats equal lines as one value and ignores different lines`() {
    #expect((["A": "x", "a": "x", "A": "x"] as HTTPHeaders).single("a") == "x")
    #expect((["A": "x", "a": "X"] as HTTPHeaders).single("a") == nil && ([:] as HTTPHeaders).single("a") == nil)
  }

  @Test(
    arguments: [
      (["5"], 5), (["5", "5"], 5), (["5, 5"], 5), ([" 5 ,5", "5"], 5), (["5", "6"], nil), (["5,"], nil), ([""], nil),
      (["+5"], nil),
      (["-5"], nil), (["5.0"], nil), (["0x5"], nil), (["9999999999999999999"], nil), ([], nil),
    ] as [([String], Int64?)]) func `treats repeated equal numbers as one number`(lines: [String], number: Int64?)
  {
    #expect(HTTPHeaders(lines.map { .init(.contentLength, $0) }).number(.contentLength) == number)
  }

  @Test(arguments: [
    ([], false), ([""], false), (["identity"], false), (["Identity, identity"], false),
    (["identity", "identity"], false),
    (["gzip"], true), (["identity, gzip"], true), (["x-unknown"], false),
  ]) func `identity and unknown codings do not count as compression`(lines: [String], isCompressed: Bool) {
    #expect(HTTPHeaders(lines.map { .init(.contentEncoding, $0) }).isCompressed == isCompressed)
  }

  @Test(arguments: [
    ["bytes 2-4/10"], ["Bytes\t2-4/10"], ["bytes  2 - 4 / 10 "], ["bytes 2-4/10", "bytes 2-4/10"],
  ]) func `parses a Content-Range with extra whitespace or repeated lines`(lines: [String]) {
    let range = ContentRange(HTTPHeaders(lines.map { .init(.contentRange, $0) }))
    #expect(range?.positions == 2...4 && range?.length == 10)
  }

  // A wrong guess would write the body to the wrong position in the file.
  @Test(arguments: [
    ["bytes=2-4/10"], ["2-4/10"], ["bytes2-4/10"], ["bytes: 2-4/10"], ["bytes 2-4"], ["bytes 2 4/10"],
    ["bytes 2-4/1 0"],
    ["bytes 2-4/10", "bytes 2-4/11"], ["bytes 2-4/10, bytes 2-4/10"], ["lines 2-4/10"], ["bytes +2-4/10"],
  ]) func `rejects an invalid or ambiguous Content-Range`(lines: [String]) {
    #expect(ContentRange(HTTPHeaders(lines.map { .init(.contentRange, $0) })) == nil)
  }

  @Test func `parses the complete length in an unsatisfied Content-Range`() {
    #expect(ContentRange.completeLength([.contentRange: "bytes */10", "content-range": "bytes */10"]) == 10)
    #expect(ContentRange.completeLength([.contentRange: "bytes  * / 10"]) == 10)
    #expect(ContentRange.completeLength([.contentRange: "bytes */10", "content-range": "bytes */11"]) == nil)
    #expect(ContentRange.completeLength([.contentRange: "bytes 0-1/10"]) == nil)
  }
}
