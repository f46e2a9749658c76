import Errand
import ErrandTesting
import ErrandTransfers
import Foundation
import Testing

/// Resumes downloads after lost connections, changed files and restarts.
@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct ResumableDownloadTests {
  /// Runs `body` with a destination and checks that only the shop's file is there afterwards.
  private func inFolder(_ shop: RangeShop, _ body: (URL) async throws -> Void) async throws {
    try await withFolder { folder in
      let place = folder.appendingPathComponent("file")
      try await body(place)
      #expect(try Data(contentsOf: place) == shop.file.withLock { $0.data }, "the file mixes two versions")
      #expect(try files(in: folder) == ["file"])
    }
  }

  @Test func `a download that is not interrupted needs only one request`() async throws {
    let shop = try RangeShop()
    try await inFolder(shop) { place in
      let result = try await shop.download(to: place).run()
      #expect(result.payload == place && result.status == .ok && result.headers[.eTag] == #""one""#)
      #expect(result.metrics.attemptCount == 1 && result.attempts.first?.status == .ok)
      #expect(result.record.description.contains("/file"), "\(result.record)")
      #expect(shop.ranges == [""] && shop.mock.requests.first?.headers[.acceptEncoding] == "identity")
    }
  }

  @Test func `downloads an empty file`() async throws {
    let shop = try RangeShop(Data())
    try await inFolder(shop) { place in try await shop.download(to: place).run() }
  }

  @Test func `a download resumes after every lost connection without repeating bytes`() async throws {
    let shop = try RangeShop()
    shop.file.withLock { $0.cuts = Array(repeating: 10_000, count: 9) }
    try await inFolder(shop) { place in
      try await shop.download(to: place).run()
      #expect(shop.ranges == [""] + (1...9).map { "bytes=\($0 * 10_000)-" }, "no byte is requested twice")
      #expect(shop.mock.requests.dropFirst().allSatisfy { $0.headers[.ifRange] == #""one""# })
      let host = try #require(Origin(shop.mock.url))
      #expect(shop.server.manager.retriesLeft(for: host) == 1, "resuming after progress costs no retry budget")
    }
  }

  @Test(arguments: [true, false]) func `attempts without progress count toward the retry policy and the retry budget`(
    isPatient: Bool
  ) async throws {
    let shop = try RangeShop(retry: isPatient ? .fixed(retries: 20, delay: .zero) : .patient)
    shop.file.withLock { $0.cuts = [10, 0, 0, 0, 0, 0] }
    try await withFolder { folder in
      let download = shop.download(to: folder.appendingPathComponent("file"))
      let error = await #expect(throws: TaskError.self) { try await download.run() }
      #expect(error?.code == .truncatedBody || error?.code == .connectionLost, "\(String(describing: error))")
      #expect(shop.ranges == ["", "bytes=10-", "bytes=10-"], "the budget allows one retry")
      #expect(error?.description.contains("budget") == isPatient)
      let words = isPatient ? "gave up after 3 of 21 attempts: the retry budget" : ": after 3 attempts"
      #expect(error?.description.contains(words) == true, "\(String(describing: error))")
      let left = try files(in: folder)
      #expect(left == [".file.errand-journal", ".file.errand-part"], "the partial download is kept")
      guard case .failed = download.state else {
        Issue.record("\(download.state)")
        return
      }
    }
  }

  @Test func `the retries of a transfer earn no retry budget`() async throws {
    let shop = try RangeShop(retry: .fixed(retries: 3, delay: .zero), budget: RetryBudget(ratio: 0.2, capacity: 10))
    let host = try #require(Origin(shop.mock.url))
    try await withFolder { folder in
      shop.file.withLock { $0.first = Array(repeating: .status(503), count: 4) }
      let download = shop.download(to: folder.appendingPathComponent("file"))
      await #expect(throws: TaskError.self) { try await download.run() }
    }
    // The budget starts full. The three retries were deducted, and the transfer's requests added nothing.
    #expect(shop.server.manager.retriesLeft(for: host) == 7)
  }

  @Test func `a later run resumes the download`() async throws {
    let shop = try RangeShop(retry: .never)
    shop.file.withLock { $0.cuts = [60_000] }
    try await inFolder(shop) { place in
      await #expect(throws: TaskError.self) { try await shop.download(to: place).run() }
      try await shop.download(to: place).run()
      #expect(shop.ranges == ["", "bytes=60000-"])
    }
  }

  @Test func `starts over if the file has changed`() async throws {
    let shop = try RangeShop(retry: .never)
    shop.file.withLock { $0.cuts = [60_000] }
    try await inFolder(shop) { place in
      await #expect(throws: TaskError.self) { try await shop.download(to: place).run() }
      shop.file.withLock { ($0.data, $0.tag) = (RangeShop.bytes(90_000, seed: 2), #""two""#) }
      try await shop.download(to: place).run()
      #expect(shop.ranges == ["", "bytes=60000-"], "the response contained the entire new file")
    }
  }

  @Test(arguments: [#"W/"weak""#, "unquoted", nil])
  func `without a strong validator, each attempt downloads the entire file`(
    tag: String?
  ) async throws {
    let shop = try RangeShop(tag: tag)
    shop.file.withLock { $0.cuts = [60_000] }
    try await inFolder(shop) { place in
      try await shop.download(to: place).run()
      #expect(shop.ranges == ["", ""])
    }
  }

  @Test func `a server without ranges sends the entire file again`() async throws {
    let shop = try RangeShop()
    shop.file.withLock { ($0.cuts, $0.takesRanges) = ([60_000], false) }
    try await inFolder(shop) { place in
      try await shop.download(to: place).run()
      #expect(shop.ranges == ["", "bytes=60000-"])
    }
  }

  @Test func `uses Last-Modified as a validator if it is old enough`() async throws {
    let shop = try RangeShop(tag: nil)
    shop.file.withLock { file in
      file.cuts = [60_000]
      file.extra = [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT", .date: "Sun, 06 Nov 1994 09:49:37 GMT"]
    }
    try await inFolder(shop) { place in
      try await shop.download(to: place).run()
      #expect(shop.ranges == ["", "bytes=60000-"])
      #expect(shop.mock.requests.last?.headers[.ifRange] == "Sun, 06 Nov 1994 08:49:37 GMT")
    }
  }

  @Test(
    arguments: [
      ("412 Precondition Failed", [:]), ("416 Range Not Satisfiable", [.contentRange: "bytes */50"]),
      ("206 Partial Content", [.contentRange: "bytes 0-99999/100000", .eTag: #""one""#]),
      ("206 Partial Content", [.contentRange: "bytes 60000-99999/100000", .eTag: #""two""#]),
      ("206 Partial Content", [.contentRange: "bytes 60000-99999/100000"]),
    ] as [(String, HTTPHeaders)])
  func `requests the entire file after a response for another range`(
    status: String, headers: HTTPHeaders
  ) async throws {
    let shop = try RangeShop(retry: .never)
    shop.file.withLock { $0.cuts = [60_000] }
    try await inFolder(shop) { place in
      await #expect(throws: TaskError.self) { try await shop.download(to: place).run() }
      let wrong = RangeShop.raw(status, headers, Data(count: 40_000), sent: 40_000)
      shop.file.withLock { $0.first = [wrong] }
      try await shop.download(to: place).run()
      #expect(shop.ranges == ["", "bytes=60000-", ""])
    }
  }

  @Test func `a failed call in a hook does not discard the partial download`() async throws {
    let shop = try RangeShop(retry: .never)
    shop.file.withLock { $0.cuts = [60_000] }
    let other = Server(
      "https://other.test",
      transport: StubTransport { HTTPResponse(.preconditionFailed, url: $0.url) }, environment: [:])
    try await inFolder(shop) { place in
      await #expect(throws: TaskError.self) { try await shop.download(to: place).run() }
      await shop.server.update { settings in
        settings.preflight = { _, _ in try await URLTask(shop.mock.url).on(other).run() }
      }
      let error = await #expect(throws: TaskError.self) { try await shop.download(to: place).run() }
      #expect(error?.status == .preconditionFailed && error?.isFromAnotherCall == true)
      await shop.server.update { $0.preflight = nil }
      try await shop.download(to: place).run()
      #expect(shop.ranges == ["", "bytes=60000-"])
    }
  }

  @Test func `starts over if another URL has the same destination`() async throws {
    let shop = try RangeShop(retry: .never)
    shop.file.withLock { $0.cuts = [60_000] }
    try await inFolder(shop) { place in
      await #expect(throws: TaskError.self) { try await shop.download(to: place, path: "other").run() }
      try await shop.download(to: place).run()
      #expect(shop.ranges == ["", "bytes=60000-", ""])
    }
  }

  @Test(arguments: [401, 403]) func `signs an expired URL again and resumes`(status: Int) async throws {
    struct Signed: ServerGETTask {
      let server: Server
      let signatures: Shared<Int>
      var query: HTTPQuery {
        let number = signatures.withLock { number in
          number += 1
          return number
        }
        return ["X-Amz-Signature": "\(number)"]
      }
    }
    let shop = try RangeShop(retry: .fixed(retries: 2, delay: .zero))
    shop.file.withLock { $0.cuts = [60_000, 20_000] }
    try await inFolder(shop) { place in
      let task = Signed(server: shop.server, signatures: Shared(0))
      let download = ResumableDownload(task, to: place)
      shop.mock.enqueue(.status(HTTPStatus(status)))
      try await download.run()
      #expect(shop.ranges == ["", "", "bytes=60000-", "bytes=80000-"])
      #expect(Set(shop.mock.requests.map { $0.target }).count == 4, "each request has a new signature")
    }
  }

  @Test func `a persistent 403 throws after three requests`() async throws {
    let shop = try RangeShop(retry: .never)
    shop.file.withLock { $0.first = Array(repeating: .status(403, body: "no"), count: 5) }
    try await withFolder { folder in
      let download = shop.download(to: folder.appendingPathComponent("file"))
      let error = await #expect(throws: TaskError.self) { try await download.run() }
      #expect(error?.status == 403 && shop.ranges.count == 3)
      try download.discard()
      #expect(try files(in: folder) == [])
    }
  }

  @Test func `rejects a compressed response`() async throws {
    let shop = try RangeShop(retry: .never)
    shop.file.withLock { $0.extra = [.contentEncoding: "gzip"] }
    try await withFolder { folder in
      let error = await #expect(throws: TaskError.self) {
        try await shop.download(to: folder.appendingPathComponent("file")).run()
      }
      #expect(error?.code == .badResponse && error?.reason.contains("compressed with gzip") == true)
      #expect(error?.reason.contains("download(to:)") == true)
    }
  }

  @Test(arguments: ["aws-chunked", "UTF-8", "none", "gzip, aws-chunked", "identity"])
  func `ignores unknown encodings, like an ordinary download`(coding: String) async throws {
    let shop = try RangeShop()
    shop.file.withLock { ($0.cuts, $0.extra) = ([60_000], [.contentEncoding: coding]) }
    try await inFolder(shop) { place in
      try await shop.download(to: place).run()
      #expect(shop.ranges == ["", "bytes=60000-"])
      try await RangeShop.GetFile(server: shop.server).download(to: place)
    }
  }

  @Test(arguments: [[:], [.ifNoneMatch: #""one""#]] as [HTTPHeaders])
  func `a 304 throws the same error as in an ordinary download`(headers: HTTPHeaders) async throws {
    let shop = try RangeShop(retry: .never)
    shop.file.withLock { $0.first = [.status(304), .status(304)] }
    try await withFolder { folder in
      let place = folder.appendingPathComponent("file")
      let task = RangeShop.GetFile(server: shop.server).headers(headers)
      let plain = await #expect(throws: TaskError.self) { try await task.download(to: place) }
      let error = await #expect(throws: TaskError.self) { try await ResumableDownload(task, to: place).run() }
      #expect(error?.code == .notModified && error?.status == 304 && error?.reason == plain?.reason)
      let left = try files(in: folder)
      #expect(left == [])
    }
  }

  @Test func `rejects a method without range support before sending`() async throws {
    struct Post: ServerPOSTTask { let server: Server }
    let shop = try RangeShop()
    try await withFolder { folder in
      let error = await #expect(throws: TaskError.self) {
        try await ResumableDownload(Post(server: shop.server), to: folder.appendingPathComponent("file")).run()
      }
      #expect(error?.code == .badRequest && shop.mock.requestCount == 0)
    }
  }

  @Test func `a later run only revalidates a complete download that could not be moved into place`() async throws {
    struct Tokened: ServerGETTask {
      let server: Server
      var path: String { "file" }
      var query: HTTPQuery { ["token": "secret"] }
    }
    let shop = try RangeShop(retry: .never)
    try await inFolder(shop) { place in
      let data = shop.file.withLock { $0.data }
      shop.mock.route(.get, "/file") { request in
        guard request.headers[.range] == nil else {
          return RangeShop.raw("416 Range Not Satisfiable", [.contentRange: "bytes */100000"], Data(), sent: 0)
        }
        // A folder at the destination blocks the move.
        try? FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        return RangeShop.raw("200 OK", [.eTag: #""one""#], data, sent: data.count)
      }
      let download = ResumableDownload(Tokened(server: shop.server), to: place)
      let error = await #expect(throws: TaskError.self) { try await download.run() }
      #expect(error?.code == .fileNotWritable)
      try FileManager.default.removeItem(at: place)
      let result = try await download.run()
      #expect(shop.ranges == ["", "bytes=100000-"])
      #expect(result.payload == place && result.status == 416 && result.headers[.contentRange] == "bytes */100000")
    }
  }

  @Test(arguments: [nil, 0]) func `a different length for the same version throws and keeps the partial file`(
    length: Int?
  ) async throws {
    let shop = try RangeShop(retry: .never)
    shop.file.withLock { $0.cuts = [60_000] }
    try await inFolder(shop) { place in
      await #expect(throws: TaskError.self) { try await shop.download(to: place).run() }
      shop.file.withLock { file in
        let text = "HTTP/1.1 200 OK\r\nConnection: close\r\nETag: \"one\"\r\n"
        let fields = length.map { "\(text)Content-Length: \($0)\r\n\r\n" } ?? "\(text)\r\n"
        file.first = [.raw(Data(fields.utf8) + (length == nil ? file.data.prefix(50_000) : Data()))]
      }
      let error = await #expect(throws: TaskError.self) { try await shop.download(to: place).run() }
      #expect(error?.code == (length == nil ? .truncatedBody : .badResponse), "\(String(describing: error))")
      try await shop.download(to: place).run()
      #expect(shop.ranges.last == (length == nil ? "bytes=50000-" : "bytes=60000-"))
    }
  }

  /// Returns a 200 response that contains only the rest of the file.
  private func slice(_ shop: RangeShop, sent: Int, _ headers: HTTPHeaders = [:]) -> MockAnswer {
    var headers = headers
    headers[.eTag] = #""one""#
    return RangeShop.raw("200 OK", headers, shop.file.withLock { $0.data.dropFirst(60_000) }, sent: sent)
  }

  @Test func `starts over after two responses with a different length for the same version`() async throws {
    let shop = try RangeShop(retry: .never)
    shop.file.withLock { $0.cuts = [60_000] }
    let slice = slice(shop, sent: 40_000)
    shop.file.withLock { $0.firstAt = [60_000: [slice, slice]] }
    try await inFolder(shop) { place in
      await #expect(throws: TaskError.self) { try await shop.download(to: place).run() }
      let error = await #expect(throws: TaskError.self) { try await shop.download(to: place).run() }
      #expect(error?.code == .badResponse && error?.reason.contains("discard()") == true)
      try await shop.download(to: place).run()
      #expect(shop.ranges == ["", "bytes=60000-", "bytes=60000-", ""])
    }
  }

  @Test func `starts over if the server has sent a range as the entire file`() async throws {
    let shop = try RangeShop(retry: .never)
    let slice = slice(shop, sent: 10_000)
    shop.file.withLock { ($0.first, $0.takesRanges) = ([slice], false) }
    try await inFolder(shop) { place in
      for _ in 1...2 { await #expect(throws: TaskError.self) { try await shop.download(to: place).run() } }
      try await shop.download(to: place).run()
      #expect(shop.ranges == ["", "bytes=10000-", "bytes=10000-", ""])
    }
  }

  @Test func `accepts a different length for the same version if no bytes have been received`() async throws {
    let shop = try RangeShop(retry: .never)
    let slice = slice(shop, sent: 0)
    shop.file.withLock { $0.first = [slice] }
    try await inFolder(shop) { place in
      await #expect(throws: TaskError.self) { try await shop.download(to: place).run() }
      try await shop.download(to: place).run()
      #expect(shop.ranges == ["", ""])
    }
  }

  @Test func `requests the entire file immediately after a 200 with a Content-Range`() async throws {
    let shop = try RangeShop(retry: .never)
    shop.file.withLock { $0.cuts = [60_000] }
    let slice = slice(shop, sent: 40_000, [.contentRange: "bytes 60000-99999/100000"])
    try await inFolder(shop) { place in
      await #expect(throws: TaskError.self) { try await shop.download(to: place).run() }
      shop.file.withLock { $0.first = [slice] }
      try await shop.download(to: place).run()
      #expect(shop.ranges == ["", "bytes=60000-", ""])
    }
  }

  @Test func `replaces a symbolic link and keeps its target, like an ordinary download`() async throws {
    let shop = try RangeShop()
    try await withFolder { folder in
      let target = folder.appendingPathComponent("target")
      for isPlain in [true, false] {
        let place = folder.appendingPathComponent("link")
        try? FileManager.default.removeItem(at: place)
        try Data("old".utf8).write(to: target)
        try FileManager.default.createSymbolicLink(at: place, withDestinationURL: target)
        if isPlain {
          try await RangeShop.GetFile(server: shop.server).download(to: place)
        } else {
          try await shop.download(to: place).run()
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: place.path)
        #expect(attributes[.type] as? FileAttributeType == .typeRegular)
        #expect(try Data(contentsOf: place) == shop.file.withLock { $0.data })
        #expect(try String(contentsOf: target, encoding: .utf8) == "old")
      }
    }
  }

  @Test func `a download without data leaves no files, and a task with a range is rejected`() async throws {
    let shop = try RangeShop(retry: .never)
    shop.file.withLock { $0.first = [.status(.notFound)] }
    try await withFolder { folder in
      let place = folder.appendingPathComponent("file")
      await #expect(throws: TaskError.self) { try await shop.download(to: place).run() }
      let left = try files(in: folder)
      #expect(left == [])
      shop.file.withLock { $0.first = [.status(.notFound)] }
      let deep = folder.appendingPathComponent("a/b/file")
      await #expect(throws: TaskError.self) { try await shop.download(to: deep).run() }
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
      let part = RangeShop.GetFile(server: shop.server).range(.first(10))
      let error = await #expect(throws: TaskError.self) { try await ResumableDownload(part, to: place).run() }
      #expect(error?.code == .badRequest && shop.mock.requestCount == 2)
    }
  }
}
