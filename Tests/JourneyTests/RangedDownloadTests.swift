import ErrandTesting
import Foundation
import Testing

@testable import Errand
@testable import ErrandTransfers

/// Downloads that request several ranges concurrently.
@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct RangedDownloadTests {
  /// The ranges requested after the first one for a file of 100,000 bytes.
  private static let rest = ["bytes=10000-32499", "bytes=32500-54999", "bytes=55000-77499", "bytes=77500-99999"]
  private static let all = ["bytes=0-9999"] + rest

  /// Runs `body` with a destination and checks that only the shop's file is there afterwards.
  private func inFolder(_ shop: RangeShop, _ body: (URL) async throws -> Void) async throws {
    try await withFolder { folder in
      let place = folder.appendingPathComponent("file")
      try await body(place)
      #expect(try Data(contentsOf: place) == shop.file.withLock { $0.data }, "the file mixes two versions")
      #expect(try files(in: folder) == ["file"])
    }
  }

  @Test func `a later run completes the file after a failed flush`() async throws {
    let shop = try RangeShop(RangeShop.bytes(40 << 20), retry: .never)
    try await inFolder(shop) { place in
      let flushes = Shared(0)
      let disk = DownloadDisk(flush: { _ in
        errno = EIO
        return flushes.withLock { count in
          count += 1
          return count != 1
        }
      })
      func run() async throws {
        let task = RangeShop.GetFile(server: shop.server)
        let aim = DownloadOptions(ranges: 4, smallestRange: 1 << 20)
        try await ResumableDownload(task, to: place, aim, on: disk).run()
      }
      let error = await #expect(throws: TaskError.self) { try await run() }
      #expect(error?.code == .fileNotWritable)
      try await run()
    }
  }

  @Test func `assembles the file from ranges that are conditional on its version`() async throws {
    let shop = try RangeShop()
    try await inFolder(shop) { place in
      try await shop.download(to: place, ranges: 4).run()
      #expect(shop.ranges.sorted() == Self.all.sorted() && shop.ranges.first == "bytes=0-9999", "no byte is repeated")
      let conditions = shop.mock.requests.map { $0.headers[.ifRange] }
      #expect(conditions == [nil] + Array(repeating: #""one""#, count: 4))
    }
  }

  @Test func `requests a small file as one range and an empty file as one stream`() async throws {
    let (small, empty) = (try RangeShop(RangeShop.bytes(5000)), try RangeShop(Data()))
    try await inFolder(small) { place in
      try await small.download(to: place, ranges: 4).run()
      #expect(small.ranges == ["bytes=0-9999"])
    }
    try await inFolder(empty) { place in
      try await empty.download(to: place, ranges: 4).run()
      #expect(empty.ranges == ["bytes=0-9999", ""])
    }
  }

  @Test func `downloads one stream from a server without range support, even after a lost connection`() async throws {
    let shop = try RangeShop()
    shop.file.withLock { ($0.takesRanges, $0.cuts) = (false, [60_000]) }
    try await inFolder(shop) { place in
      try await shop.download(to: place, ranges: 4).run()
      #expect(shop.ranges == ["bytes=0-9999", "bytes=60000-"])
    }
  }

  @Test(arguments: [#"W/"weak""#, nil])
  func `downloads the file as one stream without a strong tag, with or without a date`(
    tag: String?
  ) async throws {
    let shop = try RangeShop(tag: tag)
    shop.file.withLock { file in
      file.extra = [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", .date: "Sun, 06 Nov 1994 09:49:37 GMT"]
    }
    try await inFolder(shop) { place in
      try await shop.download(to: place, ranges: 4).run()
      #expect(shop.ranges == ["bytes=0-9999", ""])
    }
  }

  @Test func `a range resumes after a lost connection without requesting other ranges again`()
    async throws
  {
    let shop = try RangeShop()
    shop.file.withLock { $0.cutsAt = [0: 4000, 32_500: 5000, 37_500: 5000, 42_500: 5000, 47_500: 5000] }
    try await inFolder(shop) { place in
      try await shop.download(to: place, ranges: 4).run()
      let again = ["bytes=4000-9999"] + [37_500, 42_500, 47_500, 52_500].map { "bytes=\($0)-54999" }
      #expect(shop.ranges.sorted() == (Self.all + again).sorted())
      let host = try #require(Origin(shop.mock.url))
      #expect(shop.server.manager.retriesLeft(for: host) == 1, "resuming after progress costs no retry budget")
    }
  }

  @Test(
    arguments: [
      ("412 Precondition Failed", [:], 0), ("416 Range Not Satisfiable", [.contentRange: "bytes */50"], 0),
      ("200 OK", [.eTag: #""one""#], 100_000), ("203 Non-Authoritative Information", [:], 100_000),
      ("206 Partial Content", [.contentRange: "bytes 55000-77499/100000", .eTag: #""two""#], 22_500),
      ("206 Partial Content", [.contentRange: "bytes 55000-77499/100000", .eTag: #"W/"one""#], 22_500),
      ("206 Partial Content", [.contentRange: "bytes 55000-77499/100000"], 22_500),
      ("206 Partial Content", [.contentRange: "bytes 0-22499/100000", .eTag: #""one""#], 22_500),
      ("206 Partial Content", [.contentRange: "bytes 55000-77499/100001", .eTag: #""one""#], 22_500),
      ("206 Partial Content", [.contentRange: "bytes 55000-77499/*", .eTag: #""one""#], 22_500),
      ("206 Partial Content", [.contentRange: "bytes 55000-99999/100000", .eTag: #""one""#], 45_000),
      ("206 Partial Content", [.contentRange: "bytes 55000-77498/100000", .eTag: #""one""#], 22_500),
      ("206 Partial Content", [.contentType: "multipart/byteranges; boundary=x", .eTag: #""one""#], 22_500),
    ] as [(String, HTTPHeaders, Int)])
  func `downloads the entire file as one stream after a response for another range`(
    status: String, headers: HTTPHeaders, length: Int
  ) async throws {
    let shop = try RangeShop(retry: .never)
    let wrong = RangeShop.raw(status, headers, Data(count: length), sent: length)
    shop.file.withLock { $0.firstAt = [55_000: [wrong]] }
    try await inFolder(shop) { place in
      try await shop.download(to: place, ranges: 4).run()
      #expect(shop.ranges.count { $0.isEmpty } == 1)
      #expect(shop.ranges.contains("bytes=55000-77499"))
    }
  }

  @Test(arguments: ["aws-chunked", "none"]) func `downloads a file with an unknown encoding in ranges`(coding: String)
    async throws
  {
    let shop = try RangeShop(retry: .never)
    shop.file.withLock { $0.extra = [.contentEncoding: coding] }
    try await inFolder(shop) { place in
      try await shop.download(to: place, ranges: 4).run()
      #expect(shop.ranges.count > 1 && shop.ranges.allSatisfy { !$0.isEmpty })
    }
  }

  @Test func `requests the entire file after a 200 with a Content-Range for the first range`() async throws {
    let shop = try RangeShop(retry: .never)
    let headers: HTTPHeaders = [.eTag: #""one""#, .contentRange: "bytes 0-9999/100000"]
    shop.file.withLock { file in
      file.first = [RangeShop.raw("200 OK", headers, file.data.prefix(10_000), sent: 10_000)]
    }
    try await inFolder(shop) { place in
      try await shop.download(to: place, ranges: 4).run()
      #expect(shop.ranges == ["bytes=0-9999", ""])
    }
  }

  @Test func `downloads the new version if the file changes during the third range`() async throws {
    let shop = try RangeShop(retry: .never)
    shop.file.withLock { file in
      file.changes[55_000] = { ($0.data, $0.tag) = (RangeShop.bytes(90_000, seed: 2), #""two""#) }
    }
    try await inFolder(shop) { place in
      try await shop.download(to: place, ranges: 4).run()
      #expect(shop.ranges.count { $0.isEmpty } == 1)
    }
  }

  @Test func `requests the missing bytes after a shorter range`() async throws {
    let shop = try RangeShop(retry: .never)
    let data = shop.file.withLock { $0.data }
    let short = RangeShop.raw(
      "206 Partial Content", [.contentRange: "bytes 55000-59999/100000", .eTag: #""one""#], data[55_000..<60_000],
      sent: 5000)
    shop.file.withLock { $0.firstAt = [55_000: [short]] }
    try await inFolder(shop) { place in
      try await shop.download(to: place, ranges: 4).run()
      #expect(shop.ranges.sorted() == (Self.all + ["bytes=60000-77499"]).sorted())
    }
  }

  @Test(arguments: [4, 1]) func `a later run resumes each range with any concurrency`(ranges: Int)
    async throws
  {
    let shop = try RangeShop(retry: .never)
    shop.file.withLock { $0.cutsAt = [32_500: 5000] }
    try await inFolder(shop) { place in
      let error = await #expect(throws: TaskError.self) { try await shop.download(to: place, ranges: 4).run() }
      #expect(error?.code == .truncatedBody || error?.code == .connectionLost)
      let before = shop.ranges.count
      try await shop.download(to: place, ranges: ranges).run()
      let later = shop.ranges.dropFirst(before)
      #expect(later.allSatisfy { $0 != "" && $0 != "bytes=0-9999" } && !later.isEmpty)
      #expect(ranges > 1 || Array(later) == later.sorted { Self.start($0) < Self.start($1) })
      #expect(Set(later.map { Self.start($0) }).isDisjoint(with: [0, 32_500]), "ranges on disk are kept")
    }
  }

  private static func start(_ range: String) -> Int { Int(range.dropFirst(6).split(separator: "-")[0]) ?? -1 }

  @Test func `a later run starts over if the file has changed`() async throws {
    let shop = try RangeShop(retry: .never)
    shop.file.withLock { $0.cutsAt = [32_500: 5000] }
    try await inFolder(shop) { place in
      await #expect(throws: TaskError.self) { try await shop.download(to: place, ranges: 4).run() }
      shop.file.withLock { ($0.data, $0.tag) = (RangeShop.bytes(90_000, seed: 2), #""two""#) }
      try await shop.download(to: place, ranges: 4).run()
      #expect(shop.ranges.count { $0.isEmpty } == 1)
    }
  }

  @Test func `splits the rest of a single-stream download into ranges`() async throws {
    let shop = try RangeShop(retry: .never)
    shop.file.withLock { $0.cuts = [60_000] }
    try await inFolder(shop) { place in
      await #expect(throws: TaskError.self) { try await shop.download(to: place).run() }
      try await shop.download(to: place, ranges: 2).run()
      #expect(shop.ranges.sorted() == ["", "bytes=60000-79999", "bytes=80000-99999"])
    }
  }

  @Test func `requests fewer ranges concurrently if the server limits connections`() async throws {
    let shop = try RangeShop(retry: .patient)
    let refusal = RangeShop.raw("429 Too Many Requests", [:], Data(), sent: 0)
    shop.file.withLock { $0.firstAt = [32_500: [refusal], 55_000: [refusal], 77_500: [refusal]] }
    try await inFolder(shop) { place in
      try await shop.download(to: place, ranges: 4).run()
      #expect(shop.ranges.sorted() == (Self.all + Self.rest.dropFirst()).sorted())
    }
  }

  @Test func `a permanently rejected range ends the run, and the next run resumes`() async throws {
    let shop = try RangeShop()
    shop.file.withLock { $0.firstAt = [55_000: [.status(.notFound)]] }
    try await inFolder(shop) { place in
      let error = await #expect(throws: TaskError.self) { try await shop.download(to: place, ranges: 4).run() }
      #expect(error?.status == .notFound)
      let left = try files(in: place.deletingLastPathComponent())
      #expect(left == [".file.errand-journal", ".file.errand-part"])
      try await shop.download(to: place, ranges: 4).run()
      #expect(shop.ranges.count { $0 == "bytes=55000-77499" } == 2 && shop.ranges.count { $0 == "bytes=0-9999" } == 1)
    }
  }

  @Test(arguments: [401, 403]) func `signs a range's URL again if the URL has expired`(status: Int) async throws {
    let shop = try RangeShop(retry: .never)
    shop.file.withLock { $0.firstAt = [55_000: [.status(HTTPStatus(status)), .status(HTTPStatus(status))]] }
    try await inFolder(shop) { place in
      try await shop.download(to: place, ranges: 4).run()
      #expect(shop.ranges.count { $0 == "bytes=55000-77499" } == 3)
    }
  }

  /// Returns a shop whose second range stalls after 5,000 bytes.
  private func stalled() throws -> RangeShop {
    let shop = try RangeShop()
    let data = shop.file.withLock { $0.data }
    let slow = MockAnswer.data(data[32_500..<55_000], status: .partialContent).header(.eTag, #""one""#)
      .header(.contentRange, "bytes 32500-54999/100000").throttled(bytes: 5000, every: .seconds(3600))
    shop.file.withLock { $0.firstAt = [32_500: [slow]] }
    return shop
  }

  /// Returns the number of bytes in all ranges, according to the marks at the end of the partial file.
  private func present(_ place: URL) -> Int {
    let part = place.deletingLastPathComponent().appendingPathComponent(".file.errand-part")
    guard let data = try? Data(contentsOf: part), data.count == 100_040 else { return 0 }
    return stride(from: 100_000, to: data.count, by: 8).reduce(0) { sum, start in
      sum + data[start..<start + 8].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
  }

  @Test func `a paused download closes its connections and later resumes each range`() async throws {
    let shop = try stalled()
    try await inFolder(shop) { place in
      let download = shop.download(to: place, ranges: 4)
      let run = Task { try await download.run() }
      #expect(await eventually { present(place) == 82_500 })
      #expect(download.pause())
      try await shop.mock.waitForOpenConnections(0)
      #expect(download.resume())
      _ = try await run.value
      #expect(shop.ranges.sorted() == (Self.all + ["bytes=37500-54999"]).sorted())
    }
  }

  @Test func `cancelling a download keeps its ranges, and discarding it deletes them`() async throws {
    let shop = try stalled()
    try await withFolder { folder in
      let place = folder.appendingPathComponent("file")
      let download = shop.download(to: place, ranges: 4)
      let run = Task { try await download.run() }
      #expect(await eventually { present(place) == 82_500 })
      download.cancel()
      await #expect(throws: CancellationError.self) { try await run.value }
      try await download.run()
      #expect(shop.ranges.last == "bytes=37500-54999")
      shop.file.withLock { $0.cutsAt = [10_000: 1, 32_500: 1, 55_000: 1, 77_500: 1] }
      let other = RangeShop.GetFile(server: shop.server).retry(.never)
      let otherPlace = folder.appendingPathComponent("other")
      let cut = ResumableDownload(other, to: otherPlace, ranges: 4, smallestRange: 10_000)
      await #expect(throws: TaskError.self) { try await cut.run() }
      try cut.discard()
      #expect(try files(in: folder) == ["file"])
    }
  }

  @Test func `progress covers all ranges and never decreases`() async throws {
    let shop = try RangeShop()
    shop.file.withLock { $0.cutsAt = [32_500: 5000, 77_500: 7000] }
    try await inFolder(shop) { place in
      let download = shop.download(to: place, ranges: 4)
      let states = download.states
      let watcher = Task {
        var seen: [TransferProgress] = []
        for await state in states { if let progress = state.progress { seen.append(progress) } }
        return seen
      }
      try await download.run()
      let seen = await watcher.value.map(\.completed)
      #expect(seen == seen.sorted() && seen.last == 100_000)
    }
  }

  @Test func `each range is a separate call`() async throws {
    let shop = try RangeShop()
    let recorder = EventRecorder()
    await shop.server.update { $0.observers = [recorder] }
    try await inFolder(shop) { place in
      let result = try await shop.download(to: place, ranges: 4).run()
      #expect(result.payload == place && result.status == .partialContent && result.metrics.attemptCount == 1)
      #expect(recorder.events.count { if case .callStarted = $0.moment { true } else { false } } == 5)
    }
  }

  @Test func `checks the digest of the entire file`() async throws {
    let shop = try RangeShop()
    try await withFolder { folder in
      let place = folder.appendingPathComponent("file")
      let wrong = try TransferDigest.sha256(String(repeating: "0", count: 64))
      let error = await #expect(throws: TaskError.self) {
        try await shop.download(to: place, ranges: 4, digest: wrong).run()
      }
      #expect(error?.code == .digestMismatch)
      #expect(try files(in: folder) == [], "the rejected file is discarded")
      let right = "e62cf392a6b7ccd40c880f1471a1da283c8689c9a3d2bcb9c878931eabbce5a8"
      try await shop.download(to: place, ranges: 4, digest: .sha256(right)).run()
      #expect(try files(in: folder) == ["file"])
    }
  }

  // MARK: Size limits

  @Test(arguments: [1, 4]) func `rejects a file that is too large by its headers without downloading it`(
    ranges: Int
  ) async throws {
    let shop = try RangeShop()
    try await withFolder { folder in
      let task = RangeShop.GetFile(server: shop.server)
      let place = folder.appendingPathComponent("file")
      let small = ResumableDownload(task, to: place, ranges: ranges, maximumSize: 99_999)
      let error = await #expect(throws: TaskError.self) { try await small.run() }
      #expect(error?.code == .bodyTooLarge && error?.reason.contains("99999 bytes") == true)
      #expect(try files(in: folder) == [] && shop.mock.requestCount == 1)
      try await ResumableDownload(task, to: place, ranges: ranges, maximumSize: 100_000).run()
    }
  }

  @Test func `a body of unknown length fails at the size limit`() async throws {
    let shop = try RangeShop()
    shop.mock.enqueue(.raw(Data("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n".utf8) + RangeShop.bytes(100_000)))
    try await withFolder { folder in
      let task = RangeShop.GetFile(server: shop.server)
      let small = ResumableDownload(task, to: folder.appendingPathComponent("file"), maximumSize: 50_000)
      let error = await #expect(throws: TaskError.self) { try await small.run() }
      #expect(error?.code == .bodyTooLarge && shop.mock.requestCount == 1)
    }
  }

  // MARK: Interactions between requests

  @Test func `failures of the first request do not count toward the retries of later ranges`() async throws {
    let shop = try RangeShop(retry: .fixed(retries: 1, delay: .zero), budget: .standard)
    shop.file.withLock { ($0.first, $0.firstAt) = ([.status(502)], [55_000: [.status(502)]]) }
    try await inFolder(shop) { place in
      try await shop.download(to: place, ranges: 4).run()
      #expect(shop.ranges.sorted() == (["bytes=0-9999", "bytes=55000-77499"] + Self.all).sorted())
    }
  }

  @Test(arguments: [1, 4]) func `does not keep bytes beyond the requested range`(ranges: Int)
    async throws
  {
    let shop = try RangeShop(RangeShop.bytes(3_000_000), retry: .never)
    let start = ranges == 1 ? 60_000 : 2_252_500
    let head =
      "HTTP/1.1 206 Partial Content\r\nConnection: close\r\nETag: \"one\"\r\n"
      + "Content-Range: bytes \(start)-2999999/3000000\r\n\r\n"
    shop.file.withLock { file in
      file.firstAt = [start: [.raw(Data(head.utf8) + Data(count: 4_000_000))]]
      if ranges == 1 { file.cuts = [60_000] } else { file.wholes = [.status(500)] }
    }
    try await inFolder(shop) { place in
      if ranges == 1 { await #expect(throws: TaskError.self) { try await shop.download(to: place).run() } }
      await #expect(throws: TaskError.self) { try await shop.download(to: place, ranges: ranges).run() }
      let before = shop.ranges.count
      try await shop.download(to: place, ranges: ranges).run()
      #expect(shop.ranges.dropFirst(before).contains { $0.hasPrefix("bytes=\(start)-") })
    }
  }

  @Test func `does not replace the destination with a complete partial file that is too large`() async throws {
    let shop = try RangeShop(retry: .never)
    shop.file.withLock { $0.cuts = [99_999] }
    try await withFolder { folder in
      let place = folder.appendingPathComponent("file")
      await #expect(throws: TaskError.self) { try await shop.download(to: place).run() }
      let part = try FileHandle(forWritingTo: folder.appendingPathComponent(".file.errand-part"))
      try part.seekToEnd()
      try part.write(contentsOf: shop.file.withLock { $0.data.suffix(1) })
      try part.close()
      let task = RangeShop.GetFile(server: shop.server)
      let error = await #expect(throws: TaskError.self) {
        try await ResumableDownload(task, to: place, maximumSize: 50_000).run()
      }
      #expect(error?.code == .bodyTooLarge && shop.ranges.last == "bytes=100000-")
    }
  }
}
