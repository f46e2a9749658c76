import Foundation
import Testing

@testable import Errand
@testable import ErrandTransfers

/// The ranges of a file, the workers that download them, and the next step after a response.
@Suite(.timeLimit(.minutes(1))) struct DownloadRangesTests {
  private func ranges(
    _ total: Int64 = 100, head: Int64 = 10, isThere: Bool = false, count: Int = 4, smallest: Int64 = 10
  ) -> DownloadRanges? {
    DownloadRanges(total: total, head: head, isThere: isThere, count: count, smallest: smallest)
  }

  private func bounds(_ ranges: DownloadRanges?) -> [Int64]? { ranges.map { [0] + $0.parts.map(\.end) } }

  @Test func `splits the rest into equal ranges that are not smaller than the minimum`() {
    #expect(bounds(ranges()) == [0, 10, 33, 56, 78, 100])
    #expect(bounds(ranges(count: 100)) == [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100])
    #expect(bounds(ranges(39)) == [0, 10, 25, 39])
    #expect(bounds(ranges(19)) == [0, 10, 19], "a rest shorter than the minimum is a single range")
    #expect(bounds(ranges(10)) == [0, 10])
    #expect(ranges(isThere: true)?.present == 10 && ranges()?.present == 0)
    for (total, head) in [(0, 0), (10, 11), (.max, 1), (-1, 1), (10, 0)] as [(Int64, Int64)] {
      #expect(ranges(total, head: head) == nil)
    }
  }

  @Test func `restores ranges from their marks and falls back to the synchronized marks`() throws {
    let synced = try #require(ranges(isThere: true))
    var written = synced
    written.add(7, to: 2)
    #expect(written.marks.count == 40 && written.lengthWithMarks == 140 && written.present == 17)
    #expect(synced.usable(of: 140, marks: written.marks) == written)
    #expect(synced.usable(of: 140, marks: nil) == synced, "marks are lost in a system crash")
    #expect(synced.usable(of: 100, marks: Data()) == synced, "the marks are truncated")
    #expect(synced.usable(of: 10, marks: Data()) == synced, "a single stream wrote the file before it was extended")
  }

  @Test func `rejects invalid marks and ranges`() throws {
    let synced = try #require(ranges(isThere: true))
    #expect(synced.usable(of: 9, marks: nil) == nil, "the file is too short")
    #expect(synced.usable(of: 141, marks: nil) == nil)
    var other = synced
    other.add(24, to: 1)
    #expect(synced.usable(of: 140, marks: other.marks) == nil, "a mark exceeds its range")
    #expect(synced.usable(of: 140, marks: ranges()?.marks) == synced, "the marks have not been written yet")
    #expect(synced.usable(of: 140, marks: synced.marks.dropLast()) == nil)
    for text in [
      "[]", #"[{"start":1,"end":100,"count":0}]"#, #"[{"start":0,"end":0,"count":0}]"#,
      #"[{"start":0,"end":10,"count":11}]"#, #"[{"start":0,"end":10,"count":-1}]"#,
      #"[{"start":0,"end":10,"count":0},{"start":11,"end":20,"count":0}]"#,
      #"[{"start":0,"end":9223372036854775807,"count":9223372036854775807}]"#,
      #"[{"start":-9223372036854775808,"end":9223372036854775807,"count":0}]"#,
    ] {
      let spoilt = try JSONDecoder().decode(DownloadRanges.self, from: Data(#"{"parts":\#(text)}"#.utf8))
      #expect(spoilt.usable(of: 0, marks: nil) == nil)
    }
  }

  // MARK: Workers

  @Test func `assigns one worker to each range and ends idle workers`() throws {
    var ranges = try #require(self.ranges())
    var workers = RangeWorkers(for: ranges, most: 3, hasFirst: true)
    #expect(workers.size == 3)
    #expect(workers.take(of: ranges)?.index == 1 && workers.take(of: ranges)?.index == 2)
    ranges.add(10, to: 0)
    workers.leave(0)
    #expect(workers.take(of: ranges)?.index == 3 && workers.take(of: ranges)?.index == 4)
    #expect(workers.take(of: ranges) == nil && workers.size == 2)
    #expect(RangeWorkers(for: ranges, most: 9, hasFirst: false).size == 4)
  }

  @Test func `a worker leaves its range to others after a 429, unless it is the last worker`() throws {
    let ranges = try #require(self.ranges())
    var workers = RangeWorkers(for: ranges, most: 2, hasFirst: false)
    #expect(workers.take(of: ranges)?.index == 0 && workers.take(of: ranges)?.index == 1)
    var error = TaskError(.badStatus, "", phase: .receiving)
    error.status = 500
    let (before, busy) = (workers.yield(1, after: error, at: .zero), 429 as HTTPStatus)
    error.status = busy
    let yields = workers.yield(1, after: error, at: .seconds(1))
    #expect(!before && yields && workers.size == 1)
    let isLeft = workers.yield(0, after: error, at: .zero)
    #expect(!isLeft)
    let taken = workers.take(of: ranges)
    #expect(taken?.index == 1 && taken?.refusal?.moment == .seconds(1))
  }

  @Test func `a worker ends if the local queue rejects its request`() throws {
    var workers = RangeWorkers(for: try #require(self.ranges()), most: 3, hasFirst: false)
    let (full, late) = (
      TaskError(.queueFull, "", phase: .waiting), TaskError.timeout(.queue, after: .seconds(1), phase: .waiting)
    )
    let yields = [full, late].map { workers.yield(0, after: $0, at: .zero) }
    #expect(yields == [true, true] && workers.size == 1)
  }

  @Test func `reports how long to wait if all workers are waiting`() throws {
    let ranges = try #require(self.ranges())
    var workers = RangeWorkers(for: ranges, most: 2, hasFirst: false)
    workers.rest(RangeWorkers.Rest(end: .seconds(60), error: TaskError(.badStatus, "", phase: .receiving)))
    #expect(workers.restOfAll == nil)
    _ = workers.take(of: nil)
    #expect(workers.size == 1 && workers.restOfAll?.end == .seconds(60))
    workers.wake()
    #expect(workers.restOfAll == nil)
  }

  @Test func `subtracts the time already waited from Retry-After`() async throws {
    let task = Endpoint<Void, Data>.get("x").on(Server("http://127.0.0.1"))
    var retry = TransferRetry(task.retry(.fixed(retries: 2, delay: .zero)).plan)
    var error = TaskError(.badStatus, "", phase: .receiving)
    (error.status, error.headers) = (429, ["Retry-After": "300"])
    let request = HTTPRequest(.get, .known("http://127.0.0.1/x"))
    retry.failed(error, hasGained: true)
    await #expect(throws: TaskError.self) { try await retry.delay(after: error, request) }
    let delay = try await retry.delay(after: error, request, waited: .seconds(250))
    #expect(delay == .seconds(50))
  }

  // MARK: Steps

  private static let tag: HTTPHeaders = [.eTag: #""one""#]

  private func part(_ range: String, _ more: HTTPHeaders = tag) -> HTTPHeaders {
    var headers = more
    headers[.contentRange] = range
    return headers
  }

  private func first(_ status: HTTPStatus, _ headers: HTTPHeaders) -> DownloadStep {
    .after(status, headers, asked: DownloadStep.Asked(offset: 0, end: 4))
  }

  @Test func `splits the rest of the file if the first range has a strong tag and a total length`() throws {
    let validator = try #require(DownloadValidator(Self.tag))
    #expect(first(206, part("bytes 0-3/10")) == .split(validator, end: 4, total: 10))
    #expect(first(206, part("bytes 0-2/3")) == .split(validator, end: 3, total: 3))
  }

  @Test func `does not split the file unless the first response is a usable range`() {
    let dated: HTTPHeaders = [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", .date: "Sun, 06 Nov 1994 09:50:37 GMT"]
    let compressed: HTTPHeaders = [.eTag: #""one""#, .contentEncoding: "gzip"]
    for headers in [
      part("bytes 0-3/*"), part("bytes 1-3/10"), part("bytes 0-4/10"), part("bytes 0-3/10", [:]), [:], Self.tag,
      part("bytes 0-3/10", [.eTag: #"W/"one""#]), part("bytes 0-3/10", dated), part("bytes 0-3/10", compressed),
      part("bytes 0-3/10", [.eTag: #""one""#, .contentLength: "5"]),
    ] { #expect(first(206, headers) == .restart) }
    #expect(first(416, part("bytes */0")) == .restart)
    #expect(first(200, [.contentLength: "12"]) == .replace(length: 12))
    #expect(first(403, [:]) == .renew && first(412, [:]) == .fail && first(404, [:]) == .fail)
  }

  private func next(_ status: HTTPStatus, _ headers: HTTPHeaders, isOther: Bool = false) -> DownloadStep {
    .after(
      status, headers,
      asked: DownloadStep.Asked(
        offset: 4, validator: DownloadValidator(Self.tag), total: 10, end: 8, isOther: isOther))
  }

  @Test func `appends a range that matches the request`() {
    #expect(next(206, part("bytes 4-7/10")) == .append(end: 8, total: 10))
    #expect(next(206, part("bytes 4-5/10")) == .append(end: 6, total: 10), "the missing bytes are requested later")
    #expect(next(401, [:]) == .renew && next(503, [:]) == .fail)
  }

  @Test func `restarts after a response that does not match the request`() {
    for range in [
      "bytes 4-8/10", "bytes 3-7/10", "bytes 5-7/10", "bytes 4-7/11", "bytes 4-7/*", "bytes 4-7", "bytes */10", "",
      "bytes 0-9/10", "items 4-7/10",
    ] { #expect(next(206, part(range)) == .restart) }
    for tag in [nil, #""two""#, #"W/"one""#, ""] {
      #expect(next(206, part("bytes 4-7/10", tag.map { [.eTag: $0] } ?? [:])) == .restart)
    }
    #expect(next(206, part("bytes 4-7/10", [.eTag: #""one""#, .contentLength: "3"])) == .restart)
    #expect(next(206, part("bytes 4-7/10"), isOther: true) == .restart)
    for status in [200, 203, 412, 416] as [HTTPStatus] { #expect(next(status, Self.tag) == .restart) }
  }
}
