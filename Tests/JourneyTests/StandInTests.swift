import Errand
import ErrandTesting
import Foundation
import Testing

/// Responses that don't contain the requested content.
@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct StandInTests {
  private let old = Data("old".utf8)

  /// Runs `body` with a shop and an existing file, which must stay unchanged and remain the only file in its folder.
  private func keepingFile(
    _ answers: MockAnswer..., configure: (inout ServerConfiguration) -> Void = { _ in },
    body: (Shop, URL) async throws -> Void
  ) async throws {
    try await withFolder { folder in
      let shop = try Shop(configure: configure)
      for answer in answers { shop.mock.enqueue(answer) }
      let file = folder.appendingPathComponent("file")
      try old.write(to: file)
      try await body(shop, file)
      #expect(try Data(contentsOf: file) == old)
      #expect(try files(in: folder) == ["file"])
      #expect(await eventually { shop.isQuiet })
    }
  }

  private func refusal(_ body: () async throws -> Void) async -> TaskError? {
    await #expect(throws: TaskError.self) { try await body() }
  }

  private static let part = MockAnswer.status(206, headers: [.contentRange: "bytes 0-4/10"], body: "01234")

  @Test func `a 304 does not replace the existing file`() async throws {
    try await keepingFile(.status(304, headers: [.eTag: "\"a\"", .setCookie: "a=s3cret"])) {
      (shop, file) async throws in
      let task = PlainTask().on(shop.server).header(.ifNoneMatch, "\"a\"")
      let error = await #expect(throws: TaskError.self) { try await task.download(to: file) }
      #expect(error?.code == .notModified && error?.status == 304)
      #expect(error?.headers[.eTag] == "\"a\"" && error?.headers[.setCookie] == Redaction.mark)
      #expect(shop.mock.requestCount == 1, "the request is not retried")
    }
  }

  @Test func `a 304 throws if the call returns a body and otherwise is a normal response`() async throws {
    let shop = try Shop()
    for _ in 0..<4 { shop.mock.enqueue(.status(304)) }
    let task = GetWidget().on(shop.server).header(.ifNoneMatch, "\"a\"")
    #expect(await refusal { _ = try await task.download() }?.code == .notModified)
    #expect(await refusal { _ = try await task.response() }?.code == .notModified)
    #expect(await refusal { _ = try await task.downloadData() }?.code == .notModified)
    #expect(try await task.run().status == .notModified)
  }

  @Test(arguments: [nil, .ifNoneMatch, .ifModifiedSince] as [HTTPHeaderName?])
  func `the error for a 304 says whether the request was conditional`(condition: HTTPHeaderName?) async throws {
    try await keepingFile(.status(304), .status(304), .status(304)) { (shop, file) async throws in
      var headers: HTTPHeaders = [:]
      if let condition { headers[condition] = "a" }
      let task = PlainTask().on(shop.server).headers(headers)
      let calls: [() async throws -> Void] = [
        { try await task.download(to: file) }, { try await task.download(to: file, when: .changed) },
        { _ = try await task.downloadData() },
      ]
      for call in calls {
        let error = await refusal { try await call() }
        #expect(error?.code == .notModified && error?.status == 304)
        #expect(
          error?.reason.contains("the version named in the request's condition") == (condition != nil),
          "\(error?.reason ?? "")")
        #expect(error?.reason.contains("If-None-Match") == (condition == nil))
      }
    }
  }

  @Test func `an unrequested 206 does not replace the file`() async throws {
    try await keepingFile(Self.part, Self.part, Self.part) { (shop, file) async throws in
      let task = PlainTask().on(shop.server)
      for isFile in [true, false] {
        let error = await refusal {
          if isFile { try await task.download(to: file) } else { _ = try await task.downloadData() }
        }
        #expect(error?.code == .badStatus && error?.status == 206)
        let text = error?.description ?? ""
        #expect(text.contains("Range"))
      }
      #expect(try await task.run().status == 206)
    }
  }

  /// Rebuilds the response once per call.
  private struct RebuildingOnce: PerCallStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      return HTTPResponse(response.status, url: response.url, headers: response.headers, body: response.body)
    }
  }

  /// Rebuilds the response of each attempt, as a decrypting step does.
  private struct Rebuilding: PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      return HTTPResponse(response.status, url: response.url, headers: response.headers, body: response.body)
    }
  }

  @Test(arguments: [true, false])
  func `an unrequested 206 is an error even if a step rebuilds the response`(isOfCall: Bool) async throws {
    let steps = { @Sendable (configuration: inout ServerConfiguration) in
      if isOfCall {
        configuration.perCallSteps = [RebuildingOnce()]
      } else {
        configuration.perAttemptSteps = [Rebuilding()]
      }
    }
    try await keepingFile(Self.part, Self.part, configure: steps) {
      (shop, file) async throws in
      let task = PlainTask().on(shop.server)
      #expect(await refusal { try await task.download(to: file) }?.code == .badStatus)
      #expect(await refusal { _ = try await task.downloadData() }?.code == .badStatus)
    }
  }

  /// Resends the request if the first response has the wrong range.
  private struct Repeating: PerCallStep, PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      return response.headers[.contentRange] == "bytes 0-1/10" ? try await next(request) : response
    }
  }

  @Test(arguments: [true, false])
  func `accepts a range requested by a step's second request`(isOfCall: Bool) async throws {
    let shop = try Shop {
      if isOfCall { $0.perCallSteps = [Repeating()] } else { $0.perAttemptSteps = [Repeating()] }
      $0.maximumErrorBodySize = 3
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      for _ in 0..<2 {
        shop.mock.enqueue(.status(206, headers: [.contentRange: "bytes 0-1/10"], body: "01"))
        shop.mock.enqueue(Self.part)
      }
      let task = PlainTask().on(shop.server).range(ByteRange(0..<5))
      #expect(try await task.downloadData() == Data("01234".utf8))
      try await task.download(to: file)
      #expect(try Data(contentsOf: file) == Data("01234".utf8))
      shop.mock.enqueue(.status(206, headers: [.contentRange: "bytes 0-1/10"], body: "01"))
      shop.mock.enqueue(Self.part)
      #expect(try await task.run().record.attempts.map(\.number) == (isOfCall ? [1, 2] : [1]))
    }
  }

  @Test func `accepts a requested 206`() async throws {
    try await withFolder { folder in
      let shop = try Shop()
      shop.mock.enqueue(Self.part)
      shop.mock.enqueue(Self.part)
      let file = folder.appendingPathComponent("file")
      let task = PlainTask().on(shop.server).header(.range, "bytes=0-4")
      #expect(try await task.downloadData() == Data("01234".utf8))
      try await task.download(to: file)
      #expect(try Data(contentsOf: file) == Data("01234".utf8))
    }
  }

  @Test func `an error page does not replace a file, even if bad statuses are not errors`()
    async throws
  {
    try await keepingFile(.status(500, body: "sorry"), configure: { $0.reportBadHTTPStatusAsError = false }) {
      (shop, file) async throws in
      let error = await #expect(throws: TaskError.self) { try await PlainTask().on(shop.server).download(to: file) }
      #expect(error?.code == .badStatus && error?.status == 500 && error?.bodyText == "sorry")
    }
    let shop = try Shop { $0.reportBadHTTPStatusAsError = false }
    try await withFolder { (folder: URL) async throws in
      shop.mock.enqueue(.status(500, body: "sorry"))
      let task = PlainTask().on(shop.server).retry(.never)
      let error = await #expect(throws: TaskError.self) { try await task.download(into: folder) }
      #expect(error?.code == .badStatus)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false)).isEmpty)
    }
  }

  @Test(arguments: [false, true]) func `retries a 503 even if a bad status is not an error`(
    forTask: Bool
  ) async throws {
    let shop = try Shop { $0.reportBadHTTPStatusAsError = forTask }
    let statuses = forTask ? AcceptedStatuses.any : .inherited
    let plain = PlainTask().on(shop.server).accepting(statuses).retry(upTo: 1, after: .zero)
    shop.mock.enqueue(.status(503))
    let task = GetWidget().on(shop.server).accepting(statuses).retry(upTo: 1, after: .zero)
    #expect(try await task.download() == Widget())
    #expect(shop.mock.requestCount == 2)
    shop.mock.enqueue(.status(503))
    #expect(try await task.stream().status == .ok)
    #expect(shop.mock.requestCount == 4)
    for _ in 0..<3 { shop.mock.enqueue(.status(503, body: "busy")) }
    let refused = try await task.stream()
    #expect(
      refused.status == 503 && refused.record.attempts.count == 1, "the second attempt is recorded after its body")
    #expect(try await refused.body.collect() == Data("busy".utf8))
    #expect(shop.mock.requestCount == 6, "a returned 503 counts as an attempt")
    #expect(refused.record.attempts.map(\.status) == [503, 503])
    _ = try await plain.retry(.never).run()
    for _ in 0..<2 { shop.mock.enqueue(.status(503, body: "busy")) }
    let busy = try await plain.downloadData()
    #expect(busy == Data("busy".utf8), "the last response is returned when no retry is left")
    #expect(shop.mock.requestCount == 9)
    try await withFolder { folder async throws in
      for _ in 0..<2 { shop.mock.enqueue(.status(503, body: "busy")) }
      let file = folder.appendingPathComponent("file")
      #expect(await refusal { try await plain.download(to: file) }?.status == 503)
      #expect(try files(in: folder).isEmpty)
    }
  }

  @Test func `rejects downloading a HEAD request to a file`() async throws {
    try await keepingFile(.status(200, headers: ["Content-Length": "7"])) { (shop, file) async throws in
      let task = PlainTask().on(shop.server).modified { $0.httpMethod = .head }
      let error = await #expect(throws: TaskError.self) { try await task.download(to: file) }
      #expect(error?.code == .badRequest && shop.mock.requestCount == 0)
      #expect(try await task.head().status == 200)
    }
  }

  /// Reads each response and returns it with a modified body.
  private struct Bracketing: PerCallStep {
    let kept = Shared<[Data]>([])

    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      var response = try await next(request)
      let data = try await response.body.collect()
      kept.withLock { $0.append(data) }
      response.body = HTTPResponseBody(Data("[".utf8) + data + Data("]".utf8))
      return response
    }
  }

  /// Reads each response and returns it unchanged.
  private struct Reading: PerCallStep {
    let kept = Shared<[Data]>([])

    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      let data = try await response.body.collect()
      kept.withLock { $0.append(data) }
      return response
    }
  }

  @Test func `a per-call step receives the downloaded body and can replace the body`()
    async throws
  {
    let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 % 251) })
    try await withFolder { folder in
      let (bracketing, reading) = (Bracketing(), Reading())
      let file = folder.appendingPathComponent("file")
      for (step, kept) in [(bracketing as any PerCallStep, bracketing.kept), (reading, reading.kept)] {
        let shop = try Shop { $0.perCallSteps = [step] }
        shop.mock.enqueue(.data(body))
        try await PlainTask().on(shop.server).download(to: file)
        #expect(kept.withLock { $0 } == [body])
        let isBracketed = step is Bracketing
        #expect(try Data(contentsOf: file) == (isBracketed ? Data("[".utf8) + body + Data("]".utf8) : body))
        #expect(try files(in: folder) == ["file"])
      }
    }
  }

  /// Rejects the first response, or sends the request again and can reject the second response.
  private struct Checking: PerCallStep {
    struct Forged: Error {}
    let sendsAgain: Bool
    var refusesBoth = false
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      _ = try await response.body.collect()
      guard sendsAgain else { throw Forged() }
      let other = try await next(request)
      if refusesBoth { throw Forged() }
      return other
    }
  }

  @Test func `a response that a per-call step rejects does not replace the file`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      let shop = try Shop { $0.perCallSteps = [Checking(sendsAgain: false)] }
      shop.mock.enqueue(.text("forged"))
      await #expect(throws: Checking.Forged.self) { try await PlainTask().on(shop.server).download(to: file) }
      #expect(try files(in: folder).isEmpty, "no file is left in the folder")
      let twice = try Shop { $0.perCallSteps = [Checking(sendsAgain: true, refusesBoth: true)] }
      for text in ["forged", "forged too"] { twice.mock.enqueue(.text(text)) }
      let deep = folder.appendingPathComponent("new/dir/file")
      await #expect(throws: Checking.Forged.self) { try await PlainTask().on(twice.server).download(to: deep) }
      #expect(try files(in: folder).isEmpty, "no created folder is left either")
      try Data("old".utf8).write(to: file)
      shop.mock.enqueue(.text("forged"))
      await #expect(throws: Checking.Forged.self) { try await PlainTask().on(shop.server).download(to: file) }
      #expect(try Data(contentsOf: file) == Data("old".utf8) && files(in: folder) == ["file"])
      let again = try Shop { $0.perCallSteps = [Checking(sendsAgain: true)] }
      again.mock.enqueue(.text("stale"))
      again.mock.enqueue(.status(.notFound))
      await #expect(throws: TaskError.self) { try await PlainTask().on(again.server).download(to: file) }
      #expect(try Data(contentsOf: file) == Data("old".utf8) && files(in: folder) == ["file"])
      again.mock.enqueue(.text("stale"))
      again.mock.enqueue(.text("new"))
      #expect(try await PlainTask().on(again.server).download(to: file).payload == file)
      #expect(try Data(contentsOf: file) == Data("new".utf8) && files(in: folder) == ["file"])
    }
  }

  /// Wraps the response body and can change the status.
  private struct Wrapping: PerCallStep {
    let status: HTTPStatus?
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      var response = try await next(request)
      if let status { response.status = status } else { response.body = HTTPResponseBody(Whole(response.body)) }
      return response
    }

    private final class Whole: HTTPBodySource {
      let body: HTTPResponseBody
      init(_ body: HTTPResponseBody) { self.body = body }
      func next() async throws -> Data? { try await body.next() }
      func cancel() { body.cancel() }
    }
  }

  @Test func `saves a body that a step has wrapped unless the step changes the status to an error`()
    async throws
  {
    let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 % 251) })
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      let shop = try Shop { $0.perCallSteps = [Wrapping(status: nil)] }
      shop.mock.enqueue(.data(body))
      try await PlainTask().on(shop.server).download(to: file)
      #expect(try Data(contentsOf: file) == body && files(in: folder) == ["file"])
      let refusing = try Shop {
        $0.perCallSteps = [Wrapping(status: 502)]
        $0.retryPolicy = .never
      }
      refusing.mock.enqueue(.text("an error of its own"))
      let error = await #expect(throws: TaskError.self) { try await PlainTask().on(refusing.server).download(to: file) }
      #expect(error?.status == 502 && error?.body == Data("an error of its own".utf8))
      #expect(try Data(contentsOf: file) == body && files(in: folder) == ["file"])
    }
  }

  @Test func `replaces only regular files`() async throws {
    try await withFolder { folder in
      let shop = try Shop()
      shop.mock.route("/plain", answer: .text("new"))
      let pipe = folder.appendingPathComponent("pipe")
      #expect(mkfifo(pipe.path, 0o600) == 0)
      let link = folder.appendingPathComponent("link")
      #expect(symlink("/dev/null", link.path) == 0)
      let places = [pipe, link, folder, URL(string: "https://shop.test\(folder.path)/away") ?? folder]
      for place in places {
        let error = await #expect(throws: TaskError.self) {
          try await PlainTask().on(shop.server).download(to: place)
        }
        #expect(error?.code == .fileNotWritable, "\(place)")
      }
      #expect(try files(in: folder) == ["link", "pipe"])
      var status = stat()
      #expect(stat(pipe.path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
    }
  }

  @Test func `uploads only regular files, and a pipe does not block a thread`() async throws {
    try await withFolder { folder in
      let shop = try Shop()
      let pipe = folder.appendingPathComponent("pipe")
      #expect(mkfifo(pipe.path, 0o600) == 0)
      await withTaskCancellationHandler {
        for source in [pipe, folder, URL(fileURLWithPath: "/dev/zero")] {
          let error = await #expect(throws: TaskError.self) {
            try await URLTask(shop.url("echo/x"), method: .put, body: .file(source)).on(shop.server).run()
          }
          #expect(error?.code == .unreadableBody, "\(source)")
        }
      } onCancel: {
        // If the upload blocks while opening the pipe, opening the writing end after the time limit unblocks it.
        let end = open(pipe.path, O_WRONLY | O_NONBLOCK)
        if end >= 0 { close(end) }
      }
      #expect(shop.mock.requestCount == 0)
    }
  }

  @Test func `saves a response created by a step to the file`() async throws {
    try await withFolder { folder in
      let answer = Recovery(from: .offline) { request, _ in
        HTTPResponse(.ok, url: request.url, body: HTTPResponseBody(Data("kept".utf8)))
      }
      var configuration = ServerConfiguration()
      configuration.perCallSteps = [answer]
      let transport = StubTransport { _ in
        throw TaskError(.offline, "no network", phase: .connecting, wasNotSent: true)
      }
      let server = Server("https://shop.test", configuration: configuration, transport: transport)
      let file = folder.appendingPathComponent("file")
      try await PlainTask().on(server).retry(.never).download(to: file)
      #expect(try Data(contentsOf: file) == Data("kept".utf8))
    }
  }

  @Test(arguments: [HTTPStatus.noContent, 205]) func `a response without a body does not truncate a file`(
    status: HTTPStatus
  ) async throws {
    try await keepingFile(.status(status), .status(status)) { (shop, file) async throws in
      let error = await refusal { try await PlainTask().on(shop.server).download(to: file) }
      #expect(error?.code == .badStatus && error?.status == status)
      #expect(try await PlainTask().on(shop.server).downloadData() == Data())
    }
  }

  @Test(
    arguments: [
      (range: "bytes=0-4", headers: [.contentRange: "bytes 5-9/10"]), ("bytes=0-4", [:]),
      ("bytes=0-4", [.contentRange: "bytes 0-9/10"]), ("bytes=0-4", [.contentRange: "bytes 0-2/10"]),
      ("bytes=0-4", [.contentType: "multipart/byteranges; boundary=x"]), ("bytes=-5", [.contentRange: "bytes 0-4/10"]),
      ("bytes=0-4", [.contentRange: "bytes 0-4/3"]), ("bytes=0-4", [.contentRange: "bytes 0-18446744073709551616/*"]),
    ] as [(String, HTTPHeaders)])
  func `rejects a 206 whose range was not requested`(range: String, headers: HTTPHeaders) async throws {
    try await keepingFile(.status(206, headers: headers, body: "01234")) { (shop, file) async throws in
      let task = PlainTask().on(shop.server).header(.range, range)
      let error = await refusal { try await task.download(to: file) }
      #expect(error?.code == .badStatus && error?.status == 206)
      #expect(error?.description.contains("Content-Range") == true)
    }
  }

  @Test(arguments: [
    ("bytes=-5", "bytes 5-9/10"), ("bytes=5-", "bytes 5-9/10"), ("bytes=5-99", "bytes 5-9/*"),
    ("bytes=0-1,4-5", "bytes 0-4/10"),
  ]) func `accepts a 206 with the requested range`(range: String, sent: String) async throws {
    let shop = try Shop()
    shop.mock.enqueue(.status(206, headers: [.contentRange: sent], body: "56789"))
    #expect(try await PlainTask().on(shop.server).header(.range, range).downloadData() == Data("56789".utf8))
  }
}
