import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct RedirectsTests {
  private static func to(_ location: String, _ status: HTTPStatus = 302) -> StubLog.Answer {
    .status(status, [.location: location])
  }

  // MARK: Results

  @Test func `follows redirects and lists them in the response`() async throws {
    let events = EventRecorder()
    let stub = StubServer(Self.to("/moved?token=s3cret", 301), Self.to("https://cdn.test/7#part"), .widget) {
      $0.observers = [events]
    }
    let result = try await GetWidget().on(stub.server).response()
    #expect(result.payload == Widget() && result.attempts.count == 1 && result.status == .ok)
    #expect(result.response.url.absoluteString == "https://cdn.test/7#part")
    #expect(
      result.response.redirects == [
        Redirect(
          .get, .known("https://shop.test/widgets/7"), 301, headers: [.location: "/moved?token=s3cret"]),
        Redirect(
          .get, .known("https://shop.test/moved?token=s3cret"), 302, headers: [.location: "https://cdn.test/7#part"]),
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

  @Test func `lists each redirect's headers in order, for buffered and streamed responses`() async throws {
    let fields: HTTPHeaders = [.location: "/b", "X-Cache": "miss", .setCookie: "a=1", .setCookie: "b=2"]
    let hops: [StubLog.Answer] = [.status(302, fields), .status(307, [.location: "/c", "X-Hop": "2"])]
    let answers = hops + [.data(Data("x".utf8), .plainText)] + hops + [.data(Data("x".utf8), .plainText)]
    let stub = StubServer(answers[0], answers[1], answers[2], answers[3], answers[4], answers[5])
    let task = PlainTask().on(stub.server)
    for response in [try await task.run(), try await task.stream()] {
      #expect(response.redirects.map(\.headers) == [fields, [.location: "/c", "X-Hop": "2"]])
      #expect(response.redirects.first?.headers.values(for: .setCookie) == ["a=1", "b=2"])
    }
  }

  @Test func `lists no redirects for a 200 or a 302 without Location`() async throws {
    let stub = StubServer(.status(.ok), .status(302))
    #expect(try await PlainTask().on(stub.server).run().redirects.isEmpty)
    let response = try await PlainTask().on(stub.server).accepting(.all).run()
    #expect(response.status == 302 && response.redirects.isEmpty && stub.requests.count == 2)
  }

  @Test func `all kinds of calls follow redirects, and a stream releases its slot after the final head`() async throws {
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

  @Test func `an echo shows every redirect, and a recording counts one attempt`() async throws {
    let lines = Shared<[String]>([])
    let stub = StubServer(Self.to("/b", 307), .json("{}")) {
      $0.log = LogOutput { line in lines.withLock { $0.append(line) } }
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
    ] { #expect(echo.contains(text), "'\(text)' is missing from the echo:\n\(echo)") }
  }

  // MARK: Policies

  private struct Refusing: ServerGETTask { let redirectPolicy = RedirectPolicy.refuse }

  @Test func `the call's redirect policy overrides the task's, which overrides the server's`() async throws {
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

  @Test func `a redirect that is not followed fails like any other rejected status`() async throws {
    let stub = StubServer(Self.to("https://other.test/b?token=s3cret"))
    let policies: [(RedirectPolicy, String)] = [
      (.refuse, "redirectPolicy is .refuse"), (.decide { _, _ in nil }, "redirectPolicy rejected it"),
      (.sameOrigin, "it leaves the origin, but redirectPolicy is .sameOrigin"),
    ]
    for (policy, why) in policies {
      let task = PlainTask().on(stub.server).redirects(policy)
      let error = try #require(await taskError { try await task.run() })
      #expect(error.code == .badStatus && error.status == 302)
      #expect(
        error.reason == "302 Found: the redirect to 'https://other.test/b?token=<redacted>' was not followed: \(why)")
      let response = try await task.accepting(.only(302)).run()
      #expect(response.redirects.isEmpty && response.headers[.location] == "https://other.test/b?token=s3cret")
    }
    #expect(stub.requests.count == 6 && stub.server.manager.runningCount == 0)
  }

  @Test func `a policy receives the next request and can change it`() async throws {
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

  @Test func `a policy's error fails the call, and a request returned by the policy is checked`() async throws {
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

  @Test func `follows redirects with a single slot, even if the policy runs a task`() async throws {
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

  @Test func `a redirect releases its slot before waiting for a slot on the target host`() async throws {
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
    #expect(try await shop.task("c").run().status == .ok, "the redirected call has released its slot")
    gate.open()
    #expect(try await call.value.url.host == "other.test")
    _ = try await taken.value
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

  @Test func `steps receive the original request and the last response`() async throws {
    let log = Shared<[String]>([])
    let stub = StubServer(Self.to("/b"), Self.to("/c"), .status(.ok)) {
      $0.perCallSteps = [Noting(log: log)]
      $0.perAttemptSteps = [Noting(log: log)]
    }
    try await PlainTask().on(stub.server).run()
    #expect(log.withLock { $0 } == ["/plain /c 2", "/plain /c 2"])
  }
}
