import Testing

@testable import Errand
@testable import ErrandTransfers

/// The next step of a download after a response.
@Suite(.timeLimit(.minutes(1))) struct DownloadStepTests {
  private static let tag: HTTPHeaders = [.eTag: #""one""#]

  /// A request for the rest of a ten-byte file after its first seven bytes.
  private static func asked(
    offset: Int64 = 7, total: Int64? = 10, of headers: HTTPHeaders = tag, isOther: Bool = false
  ) -> DownloadStep.Asked {
    DownloadStep.Asked(offset: offset, validator: DownloadValidator(headers), total: total, isOther: isOther)
  }

  private func step(
    _ status: HTTPStatus, _ headers: HTTPHeaders = [:], _ asked: DownloadStep.Asked = asked()
  ) -> DownloadStep { DownloadStep.after(status, headers, asked: asked) }

  private func part(_ range: String, tag: String? = #""one""#) -> HTTPHeaders {
    var headers: HTTPHeaders = [.contentRange: range]
    if let tag { headers[.eTag] = tag }
    return headers
  }

  @Test(arguments: ["abc", "W/abc", "\"abc", "abc\"", "w/\"abc\"", "\"a b\"", "W/"])
  func `a malformed tag can't validate a range`(tag: String) { #expect(DownloadValidator([.eTag: tag]) == nil) }

  @Test func `appends the requested range`() {
    #expect(step(206, part("bytes 7-9/10")) == .append(end: 10, total: 10))
    #expect(step(206, part("bytes 7-8/10")) == .append(end: 9, total: 10), "a shorter range is accepted too")
    #expect(step(206, part("bytes 7-9/*")) == .append(end: 10, total: 10))
    #expect(step(206, part("bytes 7-9/10"), Self.asked(total: nil)) == .append(end: 10, total: 10))
    #expect(step(206, part("bytes 7-9/*"), Self.asked(total: nil)) == .append(end: 10, total: nil))
  }

  @Test(arguments: [
    "bytes 6-9/10", "bytes 8-9/10", "bytes 0-9/10", "bytes 7-9/11", "bytes 7-10/11", "bytes 7-10/*", "bytes 7-9",
    "bytes 9-7/10", "items 7-9/10", "bytes 7-9/9", "bytes */10", "", "bytes 7-9/10, bytes 7-9/10",
    "bytes 99999999999999999999-7/10",
  ]) func `restarts after a different range`(range: String) {
    #expect(step(206, part(range)) == .restart)
  }

  @Test(arguments: [nil, #""two""#, #"W/"one""#, "one", ""]) func `restarts after a range of another version`(
    tag: String?
  ) { #expect(step(206, part("bytes 7-9/10", tag: tag)) == .restart) }

  @Test func `restarts after a range of another resource`() {
    #expect(step(206, part("bytes 7-9/10"), Self.asked(isOther: true)) == .restart)
    var several = part("bytes 7-9/10")
    several.add(#""two""#, for: .eTag)
    #expect(step(206, several) == .restart)
  }

  @Test func `a range without a date is assumed to have the date in If-Range`() {
    let dated: HTTPHeaders = [
      .lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", .date: "Sun, 06 Nov 1994 08:50:37 GMT",
    ]
    let asked = Self.asked(of: dated)
    #expect(step(206, part("bytes 7-9/10", tag: nil), asked) == .append(end: 10, total: 10))
    var same = part("bytes 7-9/10", tag: nil)
    same[.lastModified] = dated[.lastModified]
    #expect(step(206, same, asked) == .append(end: 10, total: 10))
    same[.lastModified] = "Sun, 06 Nov 1994 08:49:38 GMT"
    #expect(step(206, same, asked) == .restart)
  }

  @Test func `replaces existing bytes with the entire file`() {
    #expect(step(200, [.contentLength: "12"]) == .replace(length: 12))
    #expect(step(200, [.contentLength: "12"], Self.asked(offset: 0)) == .replace(length: 12))
    #expect(step(200) == .replace(length: nil))
    #expect(step(203, [.contentEncoding: "identity"]) == .replace(length: nil))
  }

  @Test(arguments: ["aws-chunked", "UTF-8", "none", "gzip, aws-chunked"])
  func `accepts a body with an unknown encoding unchanged`(coding: String) {
    #expect(step(200, [.contentLength: "12", .contentEncoding: coding]) == .replace(length: 12))
    var part = part("bytes 7-9/10")
    part[.contentEncoding] = coding
    #expect(step(206, part) == .append(end: 10, total: 10))
    part[.contentRange] = "bytes 0-4/10"
    let first = DownloadStep.Asked(offset: 0, end: 5)
    #expect(step(206, part, first) == DownloadValidator(part).map { .split($0, end: 5, total: 10) })
  }

  // RFC 9110 §14.4: Content-Range has no meaning in a 200.
  @Test func `restarts after a 200 that contains only a range`() {
    let slice: HTTPHeaders = [.contentLength: "3", .contentRange: "bytes 7-9/10", .eTag: #""one""#]
    #expect(step(200, slice) == .restart)
    #expect(step(200, slice, DownloadStep.Asked(offset: 0, end: 5)) == .restart)
    #expect(step(200, slice, Self.asked(offset: 0)) == .replace(length: 3), "no range was requested")
    #expect(step(200, [.contentLength: "10", .contentRange: "bytes 0-9/10"]) == .replace(length: 10))
  }

  @Test func `a 416 finishes a download only if the file is complete`() {
    let full = Self.asked(offset: 10)
    #expect(step(416, part("bytes */10"), full) == .finished)
    #expect(step(416, part("bytes */10", tag: nil), full) == .finished)
    #expect(step(416, part("bytes */10"), Self.asked(offset: 10, total: nil)) == .finished)
    #expect(step(416, part("bytes */11"), full) == .restart)
    #expect(step(416, part("bytes */10", tag: #""two""#), full) == .restart)
    #expect(step(416, part("bytes */10")) == .restart, "the file has only seven of the ten bytes")
    #expect(step(416, [:], full) == .restart)
    #expect(step(416, part("bytes */10"), Self.asked(offset: 10, isOther: true)) == .restart)
    #expect(step(416, part("bytes */10"), Self.asked(offset: 0)) == .fail)
  }

  @Test func `restarts once after a failed precondition`() {
    #expect(step(412) == .restart)
    #expect(step(412, [:], Self.asked(offset: 0)) == .fail)
  }

  @Test(arguments: [401, 403]) func `rebuilds the request after a 401 or 403`(status: Int) {
    #expect(step(HTTPStatus(status)) == .renew)
  }

  @Test(arguments: [304, 400, 404, 410, 500, 503]) func `fails after an unexpected status`(status: Int) {
    #expect(step(HTTPStatus(status)) == .fail)
  }

  @Test func `rejects a response that is not the resource itself`() {
    func isRefused(_ step: DownloadStep) -> Bool {
      if case .refuse = step { true } else { false }
    }
    #expect(isRefused(step(204)) && isRefused(step(202)))
    #expect(isRefused(step(206, part("bytes 0-9/10"), Self.asked(offset: 0))), "no range was requested")
    #expect(isRefused(step(200, [.contentEncoding: "gzip"])))
    #expect(isRefused(step(206, [.contentEncoding: "br", .contentRange: "bytes 7-9/10", .eTag: #""one""#])))
  }
}
