import Errand
import ErrandTesting
import ErrandTransfers
import Foundation
import Testing

/// Google's resumable upload protocol on the wire, with the `X-Goog-Upload-*` headers that earlier clients send.
@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct GoogleUploadTests {
  private static let active: HTTPHeaders = ["X-Goog-Upload-Status": "active"]

  /// Returns the parts of a request that matter to the protocol.
  private func words(_ request: MockRequest) -> String {
    let fields = request.headers.filter { $0.name.description.lowercased().hasPrefix("x-goog-upload-") }
    let own = fields.map { "\($0.name.description.dropFirst(14))=\($0.value)" }.sorted().joined(separator: " ")
    return "\(request.method) \(request.target) \(own) \(request.headers[.contentLength] ?? "-")"
  }

  @Test func `sends the command, offset and length with each request and sends no byte twice`() async throws {
    try await withUpload(199_000) { file, data in
      let shop = try UploadShop()
      try await shop.upload(file, by: .google).run()
      #expect(
        shop.mock.requests.map(words) == [
          "POST /files Command=start Content-Length=199000 Content-Type=text/plain Protocol=resumable 0",
          "PUT /files/1 Command=upload Offset=0 75000", "PUT /files/1 Command=upload Offset=75000 75000",
          "PUT /files/1 Command=upload, finalize Offset=150000 49000",
        ])
      let bodies = shop.mock.requests.dropFirst().map(\.body)
      #expect(bodies == [data[..<75_000], data[75_000..<150_000], data[150_000...]].map { Data($0) })
    }
  }

  @Test func `chunks are multiples of the granularity, and the last also contains a small remainder`() async throws {
    for (granularity, lines) in [
      ("66666", ["upload 0 66666", "upload 66666 66666", "upload, finalize 133332 65668"]),
      ("100000", ["upload 0 100000", "upload, finalize 100000 99000"]),
      ("98500", ["upload 0 98500", "upload, finalize 98500 100500"]),
    ] {
      try await withUpload(199_000) { file, data in
        let shop = try UploadShop()
        shop.upload.withLock { $0.beginning["X-Goog-Upload-Chunk-Granularity"] = granularity }
        try await shop.upload(file, by: .google).run()
        #expect(shop.lines == lines && shop.upload.withLock { $0.data } == data)
      }
    }
  }

  @Test func `an empty file is finalized without sending bytes`() async throws {
    try await withUpload(0) { file, _ in
      let shop = try UploadShop()
      try await shop.upload(file, by: .google).run()
      #expect(
        shop.mock.requests.map(words) == [
          "POST /files Command=start Content-Length=0 Content-Type=text/plain Protocol=resumable 0",
          "PUT /files/1 Command=finalize Offset=0 0",
        ])
    }
  }

  @Test(arguments: [
    (100_000, ["upload 0 75000", "upload, finalize 75000 25000"]),
    (150_000, ["upload 0 75000", "upload 75000 75000", "finalize 150000 0"]), (0, ["finalize 0 0"]),
  ]) func `an upload of unknown length ends with a short or empty chunk`(size: Int, lines: [String]) async throws {
    let shop = try UploadShop()
    let data = RangeShop.bytes(size)
    let upload = shop.upload(data, by: .google)
    try await upload.run()
    #expect(shop.lines == lines && shop.upload.withLock { $0.data == data && $0.isFinal && $0.length == nil })
    #expect(shop.mock.requests.first?.headers["X-Goog-Upload-Content-Length"] == nil)
    guard case .finished = upload.state else {
      Issue.record("\(upload.state)")
      return
    }
  }

  @Test func `an upload of unknown length resumes at the server's offset`() async throws {
    let shop = try UploadShop()
    let data = RangeShop.bytes(199_000)
    shop.upload.withLock { $0.script = [nil] }
    try await shop.upload(data, by: .google).run()
    #expect(shop.upload.withLock { $0.data } == data)
    #expect(shop.lines.prefix(4) == ["upload 0 75000", "query - 0", "upload 37500 75000", "upload 112500 75000"])
  }

  @Test func `an error in the byte source fails the run, and the next run resumes`() async throws {
    struct Broken: Error {}
    let shop = try UploadShop()
    let data = RangeShop.bytes(199_000)
    let isBroken = Shared(true)
    let upload = ResumableUpload(
      named: "log.txt", with: UploadShop.AddFile(server: shop.server), by: .google, chunkSize: 75_000
    ) { offset, count in
      if offset > 0, isBroken.withLock({ $0 }) { throw Broken() }
      return Data(data.dropFirst(Int(offset)).prefix(count))
    }
    await #expect(throws: Broken.self) { try await upload.run() }
    isBroken.withLock { $0 = false }
    try await upload.run()
    #expect(shop.upload.withLock { $0.data } == data)
    #expect(
      shop.lines == ["upload 0 75000", "query - 0", "upload 75000 75000", "upload, finalize 150000 49000"])
  }

  @Test func `throws .unreadableBody if the byte source returns too many or too few bytes`() async throws {
    let shop = try UploadShop()
    let data = RangeShop.bytes(1000)
    let short = shop.upload(data, by: .google, length: 2000)
    let error = await #expect(throws: TaskError.self) { try await short.run() }
    #expect(error?.code == .unreadableBody && shop.lines.isEmpty)
    let greedy = ResumableUpload(named: "x", with: UploadShop.AddFile(server: shop.server), by: .google) { _, count in
      Data(count: count + 1)
    }
    let other = await #expect(throws: TaskError.self) { try await greedy.run() }
    #expect(other?.code == .unreadableBody)
  }

  /// Runs an upload without waiting for its delays, and returns the delays.
  private func delays(_ upload: ResumableUpload, _ clock: ManualClock) async throws -> ([Duration], (any Error)?) {
    let states = upload.states
    let run = Task { try await upload.run() }
    var delays: [Duration] = []
    for await state in states {
      guard case .delayed(let delay, _) = state else { continue }
      delays.append(delay)
      await clock.sleepers(count: 1)
      clock.advance(by: delay)
    }
    return await (delays, run.result.failure)
  }

  @Test func `queries an active upload after a 4xx and resumes the upload`() async throws {
    try await withUpload(100_000) { file, data in
      let shop = try UploadShop(retry: .never)
      shop.upload.withLock { $0.script = [.status(400, headers: Self.active)] }
      try await shop.upload(file, by: .google).run()
      #expect(shop.lines.prefix(3) == ["upload 0 75000", "query - 0", "upload 0 75000"])
      #expect(shop.upload.withLock { $0.data } == data)
    }
  }

  @Test func `retries repeated rejections with exponential delays and then fails`() async throws {
    try await withUpload(100_000) { file, _ in
      let clock = ManualClock()
      let shop = try UploadShop(retry: .never, clock: CallClock(clock))
      shop.mock.route("/files/1") { request in
        request.headers["X-Goog-Upload-Command"] == "query"
          ? .status(.ok, headers: Self.active.adding("0")) : .status(400, headers: Self.active)
      }
      let (waits, error) = try await delays(shop.upload(file, by: .google), clock)
      #expect(waits == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
      #expect(
        (error as? TaskError)?.status == 400 && "\(String(describing: error))".contains("does not store any data"))
      let upload = ["upload 0 75000"]
      #expect(shop.lines == upload + (0..<5).flatMap { _ in ["query - 0"] + upload }, "11 requests")
    }
  }

  @Test func `progress resets the retry delay`() async throws {
    try await withUpload(199_000) { file, _ in
      let clock = ManualClock()
      let shop = try UploadShop(retry: .never, clock: CallClock(clock))
      let (there, refusals) = (Shared(0), Shared([String: Int]()))
      shop.mock.route("/files/1") { request in
        let piece = request.headers["X-Goog-Upload-Offset"] ?? ""
        let count = refusals.withLock { counts in
          counts[piece, default: 0] += 1
          return counts[piece, default: 0]
        }
        if !piece.isEmpty, count <= 2 { return .status(400, headers: Self.active) }
        let size = there.withLock { size in
          size += request.body.count
          return size
        }
        return .status(.ok, headers: size < 199_000 ? Self.active.adding("\(size)") : ["X-Goog-Upload-Status": "final"])
      }
      let (waits, error) = try await delays(shop.upload(file, by: .google), clock)
      #expect(waits == [.seconds(1), .seconds(1), .seconds(1)] && error == nil)
      #expect(shop.lines.count == 15 && shop.lines.last == "upload, finalize 150000 49000")
    }
  }

  @Test func `gives up if an accepted first chunk never arrives`() async throws {
    try await withUpload(100_000) { file, _ in
      let clock = ManualClock()
      let shop = try UploadShop(retry: .never, clock: CallClock(clock))
      shop.mock.route("/files/1") { _ in .status(.ok, headers: Self.active.adding("0")) }
      let (waits, error) = try await delays(shop.upload(file, by: .google), clock)
      #expect(waits.count == 4 && error is TaskError && shop.lines.count == 6)
    }
  }

  @Test func `gives up if a server repeatedly forgets the upload`() async throws {
    try await withUpload(199_000) { file, _ in
      let clock = ManualClock()
      let shop = try UploadShop(retry: .never, clock: CallClock(clock))
      shop.mock.route("/files/1") { request in
        request.headers["Upload-Offset"] == "0" ? .status(204, headers: ["Upload-Offset": "75000"]) : .status(.notFound)
      }
      let (waits, error) = try await delays(shop.upload(file, by: .tus), clock)
      #expect(waits == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)] && (error as? TaskError)?.status == 404)
    }
  }

  @Test func `queries the upload after each retryable error, up to the policy's limit`() async throws {
    try await withUpload(100_000) { file, data in
      let shop = try UploadShop(retry: .fixed(retries: 2, delay: .zero))
      shop.upload.withLock { $0.script = [.status(503), .status(503)] }
      try await shop.upload(file, by: .google).run()
      #expect(shop.lines.prefix(3) == ["upload 0 75000", "query - 0", "query - 0"])
      #expect(shop.upload.withLock { $0.data } == data)
      let other = try UploadShop(retry: .fixed(retries: 2, delay: .zero))
      other.mock.route("/files/1") { _ in .status(503) }
      let error = await #expect(throws: TaskError.self) { try await other.upload(file, by: .google).run() }
      #expect(error?.status == 503 && other.lines == ["upload 0 75000", "query - 0", "query - 0"])
    }
  }

  @Test func `a 404 or the status 'cancelled' ends the upload, and the next run starts over`() async throws {
    for answer in [
      MockAnswer.status(404, headers: Self.active), .status(.ok, headers: ["X-Goog-Upload-Status": "cancelled"]),
    ] {
      try await withUpload(100_000) { file, data in
        let shop = try UploadShop(retry: .never)
        shop.upload.withLock { $0.script = [answer, answer] }
        let error = await #expect(throws: TaskError.self) { try await shop.upload(file, by: .google).run() }
        #expect(error?.code == .badStatus && shop.lines == ["upload 0 75000"])
        try await shop.upload(file, by: .google).run()
        #expect(shop.upload.withLock { $0.data } == data && shop.mock.requests.count { $0.target == "/files" } == 2)
      }
    }
  }

  @Test func `an invalid response to the start request throws an error that names the problem`() async throws {
    for (answer, text) in [
      (MockAnswer.status(501), "501"), (.status(.ok), "without X-Goog-Upload-URL"),
      (.status(.ok, headers: ["X-Goog-Upload-Status": "cancelled", "X-Goog-Upload-URL": "/x"]), "Status cancelled"),
    ] {
      try await withUpload(10) { file, _ in
        let shop = try UploadShop()
        shop.mock.route(.post, "/files") { _ in answer }
        let error = await #expect(throws: TaskError.self) { try await shop.upload(file, by: .google).run() }
        #expect(error?.description.contains(text) == true, "\(String(describing: error))")
        #expect(error?.url?.hasSuffix("/files") == true && shop.mock.requestCount == 1)
      }
    }
  }

  @Test func `a status of 'final' before the last chunk is an error`() async throws {
    try await withUpload(199_000) { file, _ in
      let shop = try UploadShop(retry: .never)
      shop.upload.withLock { $0.script = [.status(.ok, headers: ["X-Goog-Upload-Status": "final"])] }
      let error = await #expect(throws: TaskError.self) { try await shop.upload(file, by: .google).run() }
      #expect(error?.code == .badResponse)
    }
  }

  @Test func `discard cancels the upload on the server and can be retried after a failure`() async throws {
    try await withUpload(100_000) { file, _ in
      let shop = try UploadShop(retry: .never)
      shop.upload.withLock { $0.script = [nil, .status(503)] }
      let upload = shop.upload(file, by: .google)
      await #expect(throws: TaskError.self) { try await upload.run() }
      await #expect(throws: TaskError.self) { try await upload.discard() }
      try await upload.discard()
      #expect(shop.lines == ["upload 0 75000", "cancel - 0", "cancel - 0"])
      try await upload.discard()
      #expect(shop.lines.count == 3, "no upload is left to cancel")
      #expect(try files(in: file.deletingLastPathComponent()) == ["file.txt"])
    }
  }

  @Test func `pausing ends the request, and resuming queries the offset`() async throws {
    try await withUpload(199_000) { file, data in
      let shop = try UploadShop(retry: .never)
      shop.upload.withLock { $0.script = [.status(.ok).after(.seconds(3600))] }
      let upload = shop.upload(file, by: .google)
      let run = Task { try await upload.run() }
      #expect(await eventually { shop.lines.count == 1 })
      upload.pause()
      try await shop.mock.waitForOpenConnections(0)
      upload.resume()
      _ = try await run.value
      #expect(shop.lines.prefix(3) == ["upload 0 75000", "query - 0", "upload 0 75000"])
      #expect(shop.upload.withLock { $0.data } == data)
    }
  }
}

extension HTTPHeaders {
  fileprivate func adding(_ size: String) -> HTTPHeaders {
    var copy = self
    copy["X-Goog-Upload-Size-Received"] = size
    return copy
  }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}
