import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct RedirectsTests {
  private static func to(_ location: String, _ status: HTTPStatus = 302) -> StubLog.Answer {
    .status(status, [.location: location])
  }

  // MARK: What a call gives

  @Test func `a redirect is followed, and the response says from where it came`() async throws {
    let events = EventRecorder()
    let stub = StubServer(Self.to("/moved?token=s3cret", 301), Self.to("https://cdn.test/7#part"), .widget) {
      $0.observers = [events]
    }
    let result = try await GetWidget().on(stub.server).response()
    #expect(result.payload == Widget() && result.attempts.count == 1 && result.status == .ok)
    #expect(result.response.url.absoluteString == "https://cdn.test/7#part")
    #expect(
      result.response.redirects == [
        Redirect(.get, .known("https://shop.test/widgets/7"), 301),
        Redirect(.get, .known("https://shop.test/moved?token=s3cret"), 302),
      ])
    #expect(
      stub.urls == ["https://shop.test/widgets/7", "https://shop.test/moved?token=s3cret", "https://cdn.test/7#part"])
    #expect(result.record.title == "GET https://cdn.test/7#part")
    let moments = events.moments()
    #expect(
      moments.filter { $0.hasPrefix("redirected") } == [
        "redirected to https://shop.test/moved?token=<redacted>", "redirected to https://cdn.test/7#part",
      ])
    #expect(moments.filter { $0.hasPrefix("attempt 1") }.count == 2 && events.isBalanced)
  }

  @Test func `a response without redirects has none, and neither has one without Location`() async throws {
    let stub = StubServer(.status(.ok), .status(302))
    #expect(try await PlainTask().on(stub.server).run().redirects.isEmpty)
    let response = try await PlainTask().on(stub.server).accepting(.all).run()
    #expect(response.status == 302 && response.redirects.isEmpty && stub.requests.count == 2)
  }

  @Test func `every verb follows, and a stream's slot is free with the last head`() async throws {
    let stub = StubServer(
      Self.to("/b"), .data(Data("one".utf8), .plainText), Self.to("/b"), .data(Data("two".utf8), .plainText),
      Self.to("/b"), .data(Data("three".utf8), .plainText), Self.to("/b", 303), .status(.ok))
    let task = PlainTask().on(stub.server)
    #expect(try await task.downloadData() == Data("one".utf8))
    let response = try await task.stream()
    #expect(stub.server.manager.runningCount == 0 && stub.server.manager.throttle.streams == 1)
    #expect(try await response.body.collect() == Data("two".utf8))
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      try await task.download(to: file)
      #expect(try Data(contentsOf: file) == Data("three".utf8))
    }
    #expect(try await task.head().url.path == "/b")
    #expect(stub.requests.suffix(2).map(\.method) == [.head, .head])
  }

  @Test func `an echo shows each request, and a recording counts one attempt`() async throws {
    let lines = Shared<[String]>([])
    let stub = StubServer(Self.to("/b", 307), .json("{}")) {
      $0.log = TextSink { line in lines.withLock { $0.append(line) } }
    }
    try await withFolder { folder in
      try await stub.server.manager.recordTaskPath(to: folder)
      try await PlainTask().on(stub.server).echo().run()
      await stub.server.manager.endTaskPathRecording()
      let index = try String(contentsOf: folder.appendingPathComponent("index.json"), encoding: .utf8)
      #expect(index.contains(#""attempts":1"#) || index.contains(#""attempts" : 1"#), "\(index)")
    }
    let echo = lines.withLock { $0.joined() }
    for text in [
      "Request 1 of 2, attempt 1", "GET https://shop.test/plain", "307 Temporary Redirect\n", "Location: /b",
      "Request 2 of 2, attempt 1", "GET https://shop.test/b", "200 OK after",
    ] { #expect(echo.contains(text), "\(text) is not in \(echo)") }
  }

  // MARK: Policies

  private struct Refusing: ServerGETTask { let redirectPolicy = RedirectPolicy.refuse }

  @Test func `a policy is the server's, the task's or the call's`() async throws {
    func count(_ policy: RedirectPolicy, _ task: (Server) -> any ServerTask) async -> Int {
      let stub = StubServer(Self.to("/b"), .status(.ok)) { $0.redirectPolicy = policy }
      _ = await taskError { try await task(stub.server).run() }
      return stub.requests.count
    }
    #expect(await count(.follow) { PlainTask().on($0) } == 2)
    #expect(await count(.refuse) { PlainTask().on($0) } == 1)
    #expect(await count(.follow) { Refusing().on($0) } == 1)
    #expect(await count(.refuse) { Refusing().redirects(.follow).on($0) } == 2)
    #expect(await count(.refuse) { PlainTask().redirects(.inherited).on($0) } == 1)
  }

  @Test func `one that is not followed is the response, and fails like any other status`() async throws {
    let stub = StubServer(Self.to("https://other.test/b?token=s3cret"))
    for policy in [RedirectPolicy.refuse, .sameOrigin, .decide { _, _ in nil }] {
      let task = PlainTask().on(stub.server).redirects(policy)
      let error = try #require(await taskError { try await task.run() })
      #expect(error.code == .badStatus && error.status == 302)
      #expect(error.reason == "302 Found is not followed to 'https://other.test/b?token=<redacted>'")
      let response = try await task.accepting(.only(302)).run()
      #expect(response.redirects.isEmpty && response.headers[.location] == "https://other.test/b?token=s3cret")
    }
    #expect(stub.requests.count == 6 && stub.server.manager.runningCount == 0)
  }

  @Test func `a policy that decides sees the next request, and may change it`() async throws {
    let seen = Shared<[String]>([])
    let stub = StubServer(Self.to("/b"), Self.to("/c"), Self.to("/d"))
    let policy = RedirectPolicy.decide { response, next in
      seen.withLock { $0.append("\(response.status.code) \(response.url.path) \(next.method) \(next.url.path)") }
      if next.url.path == "/d" { return nil }
      var next = next
      next.headers["X-Signed"] = next.url.path
      return next
    }
    let response = try await PlainTask().on(stub.server).redirects(policy).accepting(.all).run()
    #expect(seen.withLock { $0 } == ["302 /plain GET /b", "302 /b GET /c", "302 /c GET /d"])
    #expect(stub.requests.map { $0.headers["X-Signed"] } == [nil, "/b", "/c"])
    #expect(
      response.status == 302 && response.url.path == "/c" && response.redirects.map(\.url.path) == ["/plain", "/b"])
  }

  private struct Refused: Error {}

  @Test func `what a policy throws fails the call, and what it returns is checked`() async throws {
    let stub = StubServer(Self.to("myapp://callback?code=1"))
    let task = PlainTask().on(stub.server)
    await #expect(throws: Refused.self) { try await task.redirects(.decide { _, _ in throw Refused() }).run() }
    let error = await taskError { try await task.redirects(.decide { $1 }).run() }
    #expect(error?.code == .badRedirect && error?.reason.contains("not an absolute http or https URL") == true)
    let code = Shared("")
    let login = task.accepting(.all).redirects(
      .decide { _, next in
        code.withLock { $0 = next.url.query ?? "" }
        return nil
      })
    #expect(try await login.run().status == 302 && code.withLock { $0 } == "code=1")
    let fall = RedirectPolicy.decide { _, next in
      var next = next
      next.url = .known("http://localhost/")
      return next
    }
    #expect(await taskError { try await task.redirects(fall).run() }?.code == .badRedirect)
    #expect(stub.requests.count == 4 && stub.server.manager.runningCount == 0)
  }

  // MARK: Slots

  @Test func `with a single slot a call is redirected to its own host, and a policy may run tasks meanwhile`()
    async throws
  {
    let stub = StubServer(
      Self.to("/b"), .status(.ok), Self.to("/c"), .status(.ok), .status(.ok), limits: .init(perHost: 1))
    let task = PlainTask().on(stub.server)
    #expect(try await task.run().url.path == "/b")
    let policy = RedirectPolicy.decide { [server = stub.server] _, next in
      try await PlainTask(path: "inner").on(server).run()
      return next
    }
    #expect(try await task.redirects(policy).run().url.path == "/c")
    #expect(stub.requests.suffix(3).map(\.url.path) == ["/plain", "/inner", "/c"])
    #expect(stub.server.manager.runningCount == 0)
  }

  @Test func `a hop waits for a slot of its own host, and holds none of the last one`() async throws {
    let gate = Gate()
    let shop = VirtualShop(limits: ThrottleLimits(perHost: 1)) { _, request, _ in
      if request.url.path == "/taken" { await gate.wait() }
      if request.url.path == "/a" { return .status(302, headers: ["Location": "https://other.test/b"], for: request) }
      return .ok(request)
    }
    let taken = Task { try await URLTask(.known("https://other.test/taken")).on(shop.server).run() }
    #expect(await eventually { shop.manager.runningCount == 1 })
    let call = Task { try await shop.task("a").run() }
    #expect(await eventually { shop.manager.waitingCount == 1 })
    let hosts = shop.manager.throttle.hosts.mapValues { $0.running }.filter { $0.value > 0 }
    #expect(hosts.keys.map(\.host) == ["other.test"] && hosts.values.first == 1)
    #expect(try await shop.task("c").run().status == .ok, "the slot of the first hop is free")
    gate.open()
    #expect(try await call.value.url.host == "other.test")
    _ = try await taken.value
  }

  // MARK: Credentials

  private func headers(
    _ locations: String..., from path: String = "plain", task headers: HTTPHeaders = [:]
  ) async throws -> [HTTPHeaders] {
    let answers = Shared(locations)
    let requests = Shared<[HTTPRequest]>([])
    var configuration = ServerConfiguration()
    configuration.userAgent = ""
    configuration.standardHeaders = ["Accept": "*/*", "Authorization": "s3cret", "X-Shop": "1"]
    configuration.trustedOrigins = ["https://cdn.test"]
    let transport = StubTransport { request in
      requests.withLock { $0.append(request) }
      let next = answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      return .status(next == nil ? 200 : 302, headers: next.map { ["Location": $0] } ?? [:], for: request)
    }
    let server = Server(
      remote: "https://shop.test", configuration: configuration, transport: transport, environment: [:])
    var task = PlainTask(path: path).on(server)
    for field in headers { task = task.header(field.name, field.value) }
    try await task.run()
    return requests.withLock { $0.map(\.headers) }
  }

  private static let own: HTTPHeaders = ["Accept": "*/*", "Authorization": "s3cret", "X-Shop": "1"]

  @Test func `the server's header fields stay with its origin, and do not come back with a later hop`() async throws {
    #expect(try await headers("/b") == [Self.own, Self.own])
    #expect(
      try await headers("https://other.test/", "https://shop.test/c") == [
        Self.own, ["Accept": "*/*"], ["Accept": "*/*"],
      ])
  }

  @Test func `trusted origins get them, but of the task's own only what is not secret`() async throws {
    #expect(try await headers("https://cdn.test/", "https://shop.test/c") == [Self.own, Self.own, Self.own])
    let sent = try await headers("https://cdn.test/", task: ["Authorization": "own", "X-Own": "1"])
    #expect(sent.map { $0[.authorization] } == ["own", nil])
    #expect(sent.map { $0["X-Own"] } == ["1", "1"] && sent.map { $0["X-Shop"] } == ["1", "1"])
  }

  @Test func `a foreign host that points to the remote gets it none of the remote's fields`() async throws {
    let sent = try await headers("https://shop.test/b", from: "https://other.test/a", task: ["Cookie": "a=1"])
    #expect(sent == [["Accept": "*/*", "Cookie": "a=1"], ["Accept": "*/*"]])
  }

  // MARK: Time and repetition

  @Test func `all hops share the time of the attempt, in which a policy's decision is not`() async throws {
    let limits = Shared<[Duration?]>([])
    let shop = VirtualShop(configure: { $0.defaultTimeout = .seconds(30) }) { number, request, clock in
      limits.withLock { $0.append(request.options.timeouts.attempt) }
      clock.advance(by: .seconds(10))
      return number < 4 ? .status(302, headers: ["Location": "/\(number)"], for: request) : .ok(request)
    }
    let policy = RedirectPolicy.decide { [clock = shop.clock] _, next in
      clock.advance(by: .seconds(100))
      return next
    }
    let error = try #require(await taskError { try await shop.task().redirects(policy).retry(.never).run() })
    #expect(limits.withLock { $0 } == [.seconds(30), .seconds(20), .seconds(10)])
    #expect(error.timer == .attempt && error.limit == .seconds(30) && !error.isSurelyNotSent && shop.sentCount == 3)
    #expect(error.attempts.map(\.duration) == [.seconds(30)])
  }

  @Test func `an attempt's limit that a later hop reaches is named in full`() async throws {
    let shop = VirtualShop { number, request, clock in
      clock.advance(by: .seconds(10))
      if number == 1 { return .status(302, headers: ["Location": "/b"], for: request) }
      throw TaskError.timeout(.attempt, after: request.options.timeouts.attempt ?? .zero, phase: .awaitingResponse)
    }
    let error = try #require(await taskError { try await shop.task().timeout(.seconds(30)).retry(.never).run() })
    #expect(error.timer == .attempt && error.limit == .seconds(30))
    let late = try #require(
      await taskError { try await shop.task().deadline(.seconds(15)).timeout(.seconds(30)).retry(.never).run() })
    #expect(late.timer == .attempt || late.timer == .call)
  }

  @Test func `a stream's head is waited for no longer than without redirects`() async throws {
    let shop = VirtualShop { number, request, clock in
      clock.advance(by: .seconds(15))
      return .status(302, headers: ["Location": "/\(number)"], for: request)
    }
    let error = try #require(await taskError { _ = try await shop.task().retry(.never).stream() })
    #expect(error.timer == .firstByte && shop.sentCount == 3, "10 s to connect and 30 s to the first byte")
  }

  @Test func `a later attempt begins where the first did`() async throws {
    let stub = StubServer(Self.to("/b"), .status(503), Self.to("/c"), .status(.ok))
    let result = try await URLTask(.known("https://shop.test/a")).on(stub.server).response()
    #expect(stub.requests.map(\.url.path) == ["/a", "/b", "/a", "/c"] && result.attempts.map(\.status) == [503, 200])
    #expect(result.response.redirects.map(\.url.path) == ["/a"])
  }

  @Test func `a POST that was answered is not sent again because its redirect led nowhere`() async throws {
    let stub = StubServer(Self.to("https://gone.test/", 307), .refused) { $0.waitsForConnectivity = true }
    let error = try #require(await taskError { try await AddWidget().on(stub.server).upload() })
    #expect(error.code == .cannotConnect && !error.isSurelyNotSent && stub.requests.count == 2)
    let get = StubServer(Self.to("https://gone.test/"), .refused, Self.to("/b"), .status(.ok))
    #expect(try await PlainTask().on(get.server).run().url.path == "/b", "a GET may be sent again")
  }

  @Test func `a body is sent to the next address as it was to the first`() async throws {
    let stub = StubServer(Self.to("/b", 308), .widget)
    _ = try await AddWidget().on(stub.server).download()
    #expect(stub.requests.map(\.method) == [.post, .post])
    #expect(stub.requests.map { $0.body.data } == Array(repeating: stub.requests.first?.body.data, count: 2))
    #expect(stub.requests.map { $0.headers[.contentType] } == ["application/json", "application/json"])
  }

  @Test func `plain http to a host that is not listed is refused on the way too`() async throws {
    let stub = StubServer(Self.to("http://other.test/"), remote: "http://localhost")
    let error = try #require(await taskError { try await PlainTask().on(stub.server).run() })
    #expect(error.code == .insecureScheme && !error.isSurelyNotSent && stub.requests.count == 1)
  }

  // MARK: Steps

  private struct Noting: PerCallStep, PerAttemptStep {
    let log: Shared<[String]>
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      log.withLock { $0.append("\(request.url.path) \(response.url.path) \(response.redirects.count)") }
      return response
    }
  }

  @Test func `steps see the request that was described and the last response`() async throws {
    let log = Shared<[String]>([])
    let stub = StubServer(Self.to("/b"), Self.to("/c"), .status(.ok)) {
      $0.perCallSteps = [Noting(log: log)]
      $0.perAttemptSteps = [Noting(log: log)]
    }
    try await PlainTask().on(stub.server).run()
    #expect(log.withLock { $0 } == ["/plain /c 2", "/plain /c 2"])
  }
}
