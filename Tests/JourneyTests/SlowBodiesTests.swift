import Errand
import ErrandTesting
import Foundation
import Testing

/// For files and streams, `timeout` limits the wait for the head and the idle time of the body. These bodies take twice
/// the limit, but are never idle for that long.
@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct SlowBodiesTests {
  private static let limit = Duration.seconds(5)
  private static let slow = MockAnswer.data(Data(count: 200)).throttled(bytes: 1, every: .milliseconds(50))

  /// Each body takes 10 s, because a shorter limit would expire on a busy machine.
  @Test func `a slow body can be saved to a file or streamed, but times out in memory`() async throws {
    let shop = try Shop { $0.defaultTimeout = Self.limit }
    shop.mock.route("/plain", answer: Self.slow)
    let task = PlainTask().on(shop.server).retry(.never)
    async let streamed = task.stream().body.collect().count
    async let limited = task.timeout(Self.limit).stream().body.collect().count
    async let unlimited = task.timeout(.unlimited).downloadData().count
    try await withFolder { folder in
      let file = folder.appendingPathComponent("slow")
      try await task.download(to: file)
      #expect(try Data(contentsOf: file).count == 200)
    }
    #expect(try await [streamed, limited, unlimited] == [200, 200, 200])
    let error = await #expect(throws: TaskError.self) { try await task.downloadData() }
    #expect(error?.timer == .attempt)
  }

  @Test func `a slow streamed upload does not time out`() async throws {
    let shop = try Shop { $0.defaultTimeout = Self.limit }
    shop.mock.route("/plain", answer: Self.slow)
    // The response is as slow as the stream that it forwards.
    let body = HTTPBody.once(try await PlainTask().on(shop.server).stream().body, length: 200)
    let task = URLTask(shop.url("echo/x"), method: .put, body: body).on(shop.server).retry(.never)
    #expect(try await task.downloadData().count == 200)
  }

  @Test func `a file upload has stream timeouts, but an in-memory upload has an attempt timeout`() async throws {
    try await withFolder { folder in
      let seen = Shared<[Timeouts]>([])
      let transport = StubTransport { request in
        seen.withLock { $0.append(request.options.timeouts) }
        return .status(.ok, for: request)
      }
      let server = Server("https://shop.test", transport: transport, environment: [:])
      await server.update { $0.defaultTimeout = .seconds(7) }
      let file = folder.appendingPathComponent("body")
      try Data("hello".utf8).write(to: file)
      for body in [HTTPBody.file(file), .bytes(Data("hello".utf8))] {
        try await URLTask(shopURL, method: .put, body: body).on(server).run()
      }
      let (seven, ten) = (Duration.seconds(7), Duration.seconds(10))
      #expect(
        seen.withLock { $0 } == [
          Timeouts(connect: seven, firstByte: seven, idle: seven), Timeouts(connect: ten, attempt: seven),
        ])
    }
  }

  private struct Replacing: PerAttemptStep {
    let file: URL
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      var request = request
      request.body = .file(file)
      return try await next(request)
    }
  }

  @Test(arguments: [true, false])
  func `a request whose body is replaced with a file has stream timeouts`(isStep: Bool) async throws {
    try await withFolder { folder in
      let seen = Shared<[Timeouts]>([])
      let transport = StubTransport { request in
        seen.withLock { $0.append(request.options.timeouts) }
        return .status(.ok, for: request)
      }
      let file = folder.appendingPathComponent("body")
      try Data("hello".utf8).write(to: file)
      let server = Server("https://shop.test", transport: transport, environment: [:])
      await server.update {
        $0.defaultTimeout = .seconds(7)
        if isStep { $0.perAttemptSteps = [Replacing(file: file)] } else { $0.preflight = { $1.body = .file(file) } }
      }
      try await URLTask(shopURL, method: .put, body: .bytes(Data("short".utf8))).on(server).run()
      let seven = Duration.seconds(7)
      #expect(seen.withLock { $0 } == [Timeouts(connect: seven, firstByte: seven, idle: seven)])
    }
  }

  private var shopURL: URL { URL(string: "https://shop.test/x") ?? URL(fileURLWithPath: "/no-url") }

  @Test func `stops reading an error body that arrives too slowly`() async throws {
    let shop = try Shop { $0.defaultTimeout = Self.limit }
    let peer = try WirePeer { connection, _ in
      guard connection.readRequest() != nil else { return }
      connection.say("HTTP/1.1 503 Busy\r\nContent-Length: 1000000\r\n\r\n")
      while connection.say("x") { usleep(20_000) }
    }
    let task = URLTask(peer.url()).on(shop.server).retry(.never)
    try await withFolder { (folder) async throws in
      let file = folder.appendingPathComponent("slow")
      for isStream in [true, false] {
        let error = await #expect(throws: TaskError.self) {
          if isStream { _ = try await task.stream() } else { try await task.download(to: file) }
        }
        #expect(error?.status == 503)
        let shown = error?.bodyText ?? ""
        #expect(shown.hasPrefix("xxx"))
      }
      #expect(try files(in: folder).isEmpty)
    }
    #expect(await eventually { shop.isQuiet })
  }

  @Test func `an idle body or a missing head times out`() async throws {
    let shop = try Shop { $0.defaultTimeout = .seconds(1) }
    shop.mock.enqueue(.text("0123456789").bodyAfter(.seconds(3600)))
    let response = try await PlainTask().on(shop.server).stream()
    let idle = await #expect(throws: TaskError.self) { try await response.body.collect() }
    #expect(idle?.timer == .idle && idle?.limit == .seconds(1))
    shop.mock.enqueue(.hang)
    let head = await #expect(throws: TaskError.self) { try await PlainTask().on(shop.server).retry(.never).stream() }
    #expect(head?.isTimeout == true && head?.limit == .seconds(1))
  }

  @Test func `an explicit attempt timeout also applies to streams`() async throws {
    let shop = try Shop()
    shop.mock.route("/plain", answer: Self.slow)
    let task = PlainTask().on(shop.server).retry(.never).timeouts(Timeouts(attempt: .milliseconds(500)))
    let error = await #expect(throws: TaskError.self) { try await task.stream().body.collect() }
    #expect(error?.timer == .attempt)
  }

  @Test(arguments: [Duration.zero, .seconds(-1)])
  func `rejects a timeout of zero or less on servers and tasks`(limit: Duration) async throws {
    let shop = try Shop()
    let task = await #expect(throws: TaskError.self) { try await GetWidget().on(shop.server).timeout(limit).run() }
    #expect(task?.code == .badLimit && task?.reason.contains("timeout is") == true)
    let idle = GetWidget().on(shop.server).timeouts(Timeouts(idle: limit))
    #expect(await #expect(throws: TaskError.self) { try await idle.run() }?.code == .badLimit)
    let lines = Shared<[String]>([])
    await shop.server.update {
      $0.log = LogOutput { line in lines.withLock { $0.append(line) } }
      $0.defaultTimeout = limit
    }
    #expect(lines.withLock { $0.count } == 1, "the invalid timeout is logged when it is set")
    let server = await #expect(throws: TaskError.self) { try await GetWidget().on(shop.server).run() }
    #expect(server?.code == .badLimit && server?.reason.contains("defaultTimeout is") == true)
    #expect(shop.mock.requestCount == 0)
    await shop.server.update { $0.defaultTimeout = .unlimited }
    #expect(try await GetWidget().on(shop.server).download() == Widget())
  }
}
