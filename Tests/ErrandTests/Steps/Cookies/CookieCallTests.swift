import Errand
import ErrandTesting
import Foundation
import Testing

/// The cookies that calls send and store.
@Suite(.timeLimit(.minutes(1))) struct CookieCallTests {
  private static func sets(_ lines: String..., status: HTTPStatus = .ok, _ more: HTTPHeaders = [:]) -> StubLog.Answer {
    var headers = more
    for line in lines { headers.add(line, for: .setCookie) }
    return .status(status, headers)
  }

  private func sent(_ stub: StubServer) -> [String?] { stub.requests.map { $0.headers[.cookie] } }

  @Test func `sends a response's cookies with later requests to the same server`() async throws {
    let stub = StubServer(Self.sets("a=1; Path=/", "b=2; Path=/deep"), .status(.ok))
    try await PlainTask().on(stub.server).run()
    try await PlainTask().on(stub.server).run()
    try await URLTask(.known("https://shop.test/deep/x")).on(stub.server).run()
    try await URLTask(.known("https://other.test/")).on(stub.server).run()
    #expect(sent(stub) == [nil, "a=1", "b=2; a=1", nil])
    #expect(stub.server.cookieJar?.cookies.map(\.name) == ["a", "b"])
  }

  @Test func `each server has its own jar unless servers share a jar`() async throws {
    let (one, two) = (StubServer(Self.sets("a=1")), StubServer(.status(.ok)))
    try await PlainTask().on(one.server).run()
    try await PlainTask().on(two.server).run()
    #expect(sent(two) == [nil] && two.server.cookieJar?.cookies.isEmpty == true)
    let jar = CookieJar()
    for stub in [one, two] { await stub.server.update { $0.cookiePolicy = .shared(jar) } }
    try await PlainTask().on(one.server).run()
    try await PlainTask().on(two.server).run()
    #expect(sent(one) == [nil, nil] && sent(two) == [nil, "a=1"] && two.server.cookieJar === jar)
    var copy = ServerConfiguration()
    copy.cookiePolicy = .perServer
    let third = Server("https://shop.test", configuration: copy, environment: [:])
    #expect(third.cookieJar !== one.server.cookieJar && third.cookieJar != nil)
  }

  @Test func `a server or a call can disable cookies`() async throws {
    let stub = StubServer(Self.sets("a=1"))
    try await PlainTask().cookies(.none).on(stub.server).run()
    try await PlainTask().on(stub.server).run()
    try await PlainTask().cookies(.none).on(stub.server).run()
    await stub.server.update { $0.cookiePolicy = .none }
    try await PlainTask().on(stub.server).run()
    #expect(stub.server.cookieJar == nil)
    try await PlainTask().cookies(.perServer).on(stub.server).run()
    #expect(sent(stub) == [nil, nil, nil, nil, "a=1"])
  }

  private struct Signed: ServerTask { let cookiePolicy = CookiePolicy.sending(["session": "abc", "lang": "en"]) }

  @Test func `a task with .sending sends only its own cookies`() async throws {
    let stub = StubServer(Self.sets("a=1"))
    try await PlainTask().on(stub.server).run()
    try await Signed().on(stub.server).run()
    try await Signed().cookies(.inherited).on(stub.server).run()
    #expect(sent(stub) == [nil, "session=abc; lang=en", "a=1"])
    await stub.server.update { $0.cookiePolicy = .sending(["k": "v"]) }
    try await PlainTask().on(stub.server).run()
    #expect(sent(stub).last == "k=v" && stub.server.cookieJar == nil)
  }

  private struct Elsewhere: PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      var request = request
      request.url = .known("https://other.test/")
      return try await next(request)
    }
  }

  @Test func `a server's fixed cookies are sent only to its origin, even if a step changes the URL`() async throws {
    let stub = StubServer(.status(.ok)) { $0.cookiePolicy = .sending(["k": "s3cret"]) }
    try await PlainTask().on(stub.server).run()
    try await URLTask(.known("https://other.test/")).on(stub.server).run()
    await stub.server.update { $0.perAttemptSteps = [Elsewhere()] }
    try await PlainTask().on(stub.server).run()
    try await PlainTask().cookies(.sending(["own": "1"])).on(stub.server).run()
    #expect(sent(stub) == ["k=s3cret", nil, nil, "own=1"])
  }

  @Test func `sends the cookies for the URL that a step chooses`() async throws {
    let stub = StubServer(Self.sets("a=1"), .status(.ok, [.setCookie: "b=2"]), .status(.ok))
    try await PlainTask().on(stub.server).run()
    await stub.server.update { $0.perAttemptSteps = [Elsewhere()] }
    try await PlainTask().on(stub.server).run()
    try await PlainTask().on(stub.server).run()
    #expect(sent(stub) == [nil, nil, "b=2"])
  }

  @Test(arguments: ["s3cret b", "s3cret;b", "s3cret,b", "\"s3cret\"", "s3cretä", "s3cret\r\nX-Evil: 1", "s3cret\\"])
  func `rejects a fixed cookie with invalid characters before sending`(value: String) async throws {
    let stub = StubServer(.status(.ok))
    let error = await taskError { try await PlainTask().cookies(.sending(["k": value])).on(stub.server).run() }
    #expect(error?.code == .badRequest && error?.wasNotSent == true && stub.requests.isEmpty)
    #expect(error?.description.contains("s3cret") == false, "the value may be a secret")
    let other = await taskError { try await PlainTask().cookies(.sending(["a;b": "v"])).on(stub.server).run() }
    #expect(other?.code == .badRequest)
  }

  private struct Sets: PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      var request = request
      request.headers[.cookie] = "step=1"
      return try await next(request)
    }
  }

  @Test func `does not change a Cookie header set by a task, preflight, step or server`() async throws {
    let stub = StubServer(Self.sets("a=1"))
    try await PlainTask().on(stub.server).run()
    try await PlainTask().header(.cookie, "mine=1").on(stub.server).run()
    try await PlainTask().header(.cookie, "mine=1").cookies(.sending(["k": "v"])).on(stub.server).run()
    await stub.server.update { $0.preflight = { _, request in request.headers[.cookie] = "preflight=1" } }
    try await PlainTask().on(stub.server).run()
    await stub.server.update {
      $0.preflight = nil
      $0.perAttemptSteps = [Sets()]
    }
    try await PlainTask().on(stub.server).run()
    await stub.server.update {
      $0.perAttemptSteps = []
      $0.standardHeaders[.cookie] = "server=1"
    }
    try await PlainTask().on(stub.server).run()
    #expect(sent(stub) == [nil, "mine=1", "mine=1", "preflight=1", "step=1", "server=1"])
  }

  private struct Sees: PerCallStep, PerAttemptStep {
    let seen: Shared<[String?]>
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      seen.withLock { $0.append(request.headers[.cookie]) }
      return try await next(request)
    }
  }

  @Test func `steps receive the jar's cookies`() async throws {
    let seen = Shared<[String?]>([])
    let stub = StubServer(Self.sets("a=1"), Self.sets("a=2"), .status(.ok)) {
      $0.perCallSteps = [Sees(seen: seen)]
      $0.perAttemptSteps = [Sees(seen: seen)]
    }
    for _ in 0..<3 { try await PlainTask().on(stub.server).run() }
    #expect(seen.withLock { $0 } == [nil, nil, "a=1", "a=1", "a=2", "a=2"])
    #expect(sent(stub) == [nil, "a=1", "a=2"])
  }

  // RFC 6265bis §5.3: "User agents … MUST process any Set-Cookie header field present in a response", except 1xx
  // responses, which transports do not report.
  @Test(arguments: [200, 204, 304, 401, 404, 500])
  func `stores the cookies of a response with any status`(code: Int) async throws {
    let stub = StubServer(Self.sets("a=1", status: HTTPStatus(code)), .status(.ok))
    _ = try await PlainTask().accepting(.all).retry(.never).on(stub.server).run()
    try await PlainTask().on(stub.server).run()
    #expect(sent(stub) == [nil, "a=1"])
  }

  @Test func `a retry sends the cookies set by the previous attempt`() async throws {
    let stub = StubServer(Self.sets("a=1", status: 503), Self.sets("a=2", status: 503), .status(.ok))
    try await PlainTask().on(stub.server).run()
    #expect(sent(stub) == [nil, "a=1", "a=2"])
  }

  @Test func `stores the cookies of streams and file downloads`() async throws {
    let stub = StubServer(Self.sets("a=1"), Self.sets("b=2"), .status(.ok))
    let response = try await PlainTask().on(stub.server).stream()
    #expect(stub.server.cookieJar?.cookies.count == 1)
    response.body.cancel()
    _ = try await withFolder { folder in
      try await PlainTask().on(stub.server).download(to: folder.appendingPathComponent("file"))
    }
    try await PlainTask().on(stub.server).run()
    #expect(sent(stub) == [nil, "a=1", "a=1; b=2"])
  }

  @Test func `cookies expire according to the manager's clock`() async throws {
    let stub = StubServer(Self.sets("a=1; Max-Age=60"), .status(.ok), clock: .manual)
    try await PlainTask().on(stub.server).run()
    stub.clock.advance(by: .seconds(59))
    try await PlainTask().on(stub.server).run()
    stub.clock.advance(by: .seconds(1))
    try await PlainTask().on(stub.server).run()
    #expect(sent(stub) == [nil, "a=1", nil])
  }

  @Test(arguments: [false, true])
  func `a request that waited for a slot sends the current cookies`(hasSteps: Bool) async throws {
    let (gate, sent) = (Gate(), Shared<[String?]>([]))
    let shop = VirtualShop(limits: ThrottleLimits(total: 1)) {
      if hasSteps { $0.perAttemptSteps = [Sees(seen: Shared([]))] }
    } answer: { number, request, _ in
      sent.withLock { $0.append(request.headers[.cookie]) }
      if number == 2 { await gate.wait() }
      return .status(.ok, headers: [.setCookie: "turn=\(number)"], for: request)
    }
    try await shop.task().run()
    async let second = shop.task().run()
    #expect(await eventually { shop.sentCount == 2 })
    async let third = shop.task().run()
    #expect(await eventually { shop.manager.waitingCount == 1 })
    gate.open()
    _ = try await (second, third)
    #expect(sent.withLock { $0 } == [nil, "turn=1", "turn=2"])
  }
}
