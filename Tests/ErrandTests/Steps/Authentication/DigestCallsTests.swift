import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Calls that answer a Digest challenge.
@Suite(.timeLimit(.minutes(1))) struct DigestCallsTests {
  private static let credential = Credential(user: "ann", password: "sesame")

  private static func challenge(_ nonce: String, _ more: String = #"qop="auth""#) -> HTTPHeaders {
    [.wwwAuthenticate: #"Digest realm="r", nonce="\#(nonce)", \#(more)"#]
  }

  /// Authenticates every request to a server with Digest.
  private static func signIn(_ configuration: inout ServerConfiguration) {
    configuration.preflight = { _, request in request.options.digest = credential }
  }

  /// Returns the `Authorization` parameters of each request, or `nil` for requests without that header.
  private func answers(_ requests: [HTTPRequest]) -> [AuthenticationChallenge?] {
    requests.map { request in
      request.headers[.authorization].flatMap { ([.wwwAuthenticate: $0] as HTTPHeaders).challenges.first }
    }
  }

  private func nonces(_ stub: StubServer) -> [String?] { answers(stub.requests).map { $0?["nonce"] } }

  @Test func `answers a challenge once and authenticates later requests preemptively`() async throws {
    let stub = StubServer(.status(401, Self.challenge("n1")), .status(.ok), configure: Self.signIn)
    try await PlainTask().on(stub.server).run()
    try await PlainTask(path: "other", query: ["a": "b"]).on(stub.server).run()
    let answers = answers(stub.requests)
    #expect(answers.map { $0?["nc"] } == [nil, "00000001", "00000002"])
    #expect(answers.map { $0?["uri"] } == [nil, "/plain", "/other?a=b"])
  }

  @Test func `returns a second 401 and starts the next call without credentials`() async throws {
    let stub = StubServer(
      .status(401, Self.challenge("n1")), .status(401, Self.challenge("n2")), .status(.ok), configure: Self.signIn)
    let error = await taskError { try await PlainTask().on(stub.server).run() }
    #expect(error?.status == 401 && nonces(stub) == [nil, "n1"])
    try await PlainTask().on(stub.server).run()
    #expect(nonces(stub) == [nil, "n1", nil])
  }

  @Test func `answers a second challenge if the nonce is stale, but not a third`() async throws {
    let stale = #"qop="auth", stale=TRUE"#
    let stub = StubServer(
      .status(401, Self.challenge("n1")), .status(401, Self.challenge("n2", stale)), .status(.ok),
      .status(401, Self.challenge("n3", stale)), .status(401, Self.challenge("n4", stale)),
      .status(401, Self.challenge("n5", stale)), configure: Self.signIn)
    try await PlainTask().on(stub.server).run()
    #expect(nonces(stub) == [nil, "n1", "n2"])
    #expect(await taskError { try await PlainTask().on(stub.server).run() }?.status == 401)
    #expect(nonces(stub) == [nil, "n1", "n2", "n2", "n3", "n4"])
  }

  @Test func `replaces a known nonce that the server rejects without stale=true`() async throws {
    let stub = StubServer(
      .status(401, Self.challenge("n1")), .status(.ok), .status(401, Self.challenge("n2")), .status(.ok),
      configure: Self.signIn)
    for _ in 0..<2 { try await PlainTask().on(stub.server).run() }
    #expect(nonces(stub) == [nil, "n1", "n1", "n2"])
  }

  // RFC 7616 §3.5.
  @Test func `uses the server's next nonce`() async throws {
    let stub = StubServer(
      .status(401, Self.challenge("n1")), .status(.ok, ["Authentication-Info": #"qop=auth, nextnonce="n2""#]),
      .status(.ok), configure: Self.signIn)
    for _ in 0..<3 { try await PlainTask().on(stub.server).run() }
    #expect(nonces(stub) == [nil, "n1", "n2", "n2"])
    #expect(answers(stub.requests).map { $0?["nc"] } == [nil, "00000001", "00000001", "00000002"])
  }

  @Test func `returns the 401 with a reason if the algorithm is not supported`() async throws {
    let stub = StubServer(.status(401, Self.challenge("n1", "algorithm=SHA-512-256")), configure: Self.signIn)
    let error = await taskError { try await PlainTask().on(stub.server).run() }
    #expect(error?.status == 401 && error?.retryRefusal?.contains("SHA-512-256") == true && stub.requests.count == 1)
  }

  @Test func `does not answer an auth-int challenge for a file body and reports why`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      try Data("body".utf8).write(to: file)
      let stub = StubServer(.status(401, Self.challenge("n1", "qop=auth-int")), configure: Self.signIn)
      let task = BodyTask(body: .file(file)).on(stub.server)
      let error = await taskError { try await task.run() }
      #expect(error?.retryRefusal?.contains("auth-int") == true && stub.requests.count == 1)
    }
  }

  private struct BodyTask: ServerPOSTTask {
    let body: HTTPBody
    var path: String { "body" }
    func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody { body }
  }

  @Test func `does not resend a .neverRepeat request, but authenticates the next call`() async throws {
    let stub = StubServer(.status(401, Self.challenge("n1")), .status(.ok), configure: Self.signIn)
    let task = PlainTask().on(stub.server).modified { $0.idempotency = .neverRepeat }
    let error = await taskError { try await task.run() }
    #expect(error?.status == 401 && error?.retryRefusal?.contains("must not be sent twice") == true)
    try await task.run()
    #expect(nonces(stub) == [nil, "n1"])
  }

  @Test func `keeps an existing Authorization header`() async throws {
    let stub = StubServer(.status(401, Self.challenge("n1"))) {
      Self.signIn(&$0)
      $0.authentication = .bearer("t")
    }
    _ = await taskError { try await PlainTask().on(stub.server).run() }
    #expect(stub.requests.map { $0.headers[.authorization] } == ["Bearer t"])
  }

  @Test func `sends cookies set by the challenge with the answer`() async throws {
    var headers = Self.challenge("n1")
    headers[.setCookie] = "a=b"
    let stub = StubServer(.status(401, headers), .status(.ok)) {
      Self.signIn(&$0)
      $0.cookiePolicy = .perServer
    }
    try await PlainTask().on(stub.server).run()
    #expect(stub.requests.map { $0.headers[.cookie] } == [nil, "a=b"])
  }

  @Test func `authenticates a same-origin redirect for the new URI, but not a cross-origin redirect`() async throws {
    let log = Shared<[HTTPRequest]>([])
    let shop = VirtualShop(
      configure: Self.signIn,
      answer: { _, request, _ in
        log.withLock { $0.append(request) }
        guard request.url.host == "shop.test" else {
          return .status(401, headers: Self.challenge("evil"), for: request)
        }
        guard request.headers.contains(.authorization) else {
          return .status(401, headers: Self.challenge("n1"), for: request)
        }
        let target = request.url.path == "/widgets" ? "/near" : "https://other.test/x"
        return .status(307, headers: [.location: target], for: request)
      })
    let error = await taskError { try await shop.task(method: .post).run() }
    #expect(error?.status == 401)
    let requests = log.withLock { $0 }
    #expect(requests.map(\.url.absoluteString).suffix(2) == ["https://shop.test/near", "https://other.test/x"])
    #expect(answers(requests).map { $0?["uri"] } == [nil, "/widgets", "/near", nil])
    #expect(answers(requests).map { $0?["nc"] } == [nil, "00000001", "00000002", nil])
  }

  @Test func `answers a challenge within the same attempt and timeout`() async throws {
    let limits = Shared<[Duration?]>([])
    let shop = VirtualShop(
      configure: {
        Self.signIn(&$0)
        $0.defaultTimeout = .seconds(60)
      },
      answer: { number, request, clock in
        limits.withLock { $0.append(request.options.timeouts.attempt) }
        clock.advance(by: .seconds(10))
        switch number {
        case 1: return .status(307, headers: [.location: "/near"], for: request)
        case 2: return .status(401, headers: Self.challenge("n1"), for: request)
        case 3: return .status(401, headers: Self.challenge("n2", #"qop="auth", stale=true"#), for: request)
        default: return .ok(request)
        }
      })
    #expect(try await shop.task().run().status == .ok)
    #expect(shop.moments(containing: "attempt 2").isEmpty)
    #expect(limits.withLock { $0 } == [60, 50, 40, 30].map { .seconds($0) })
    #expect(shop.moments(containing: "401").count == 2)
    await shop.events.balanced()
  }

  @Test func `answers challenges with a single slot and an empty retry budget`() async throws {
    let shop = VirtualShop(
      limits: ThrottleLimits(perHost: 1), budget: RetryBudget(ratio: 0, capacity: 0),
      configure: Self.signIn,
      answer: { _, request, _ in
        request.headers.contains(.authorization)
          ? .ok(request) : .status(401, headers: Self.challenge("n1"), for: request)
      })
    let calls = (0..<10).map { _ in Task { try await shop.task(method: .post).run().status } }
    for call in calls { #expect(try await call.value == .ok) }
    #expect(shop.sentCount == 11, "calls that waited for the slot use the first call's challenge")
  }

  private struct Passing: PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse { try await next(request) }
  }

  @Test(arguments: [false, true])
  func `answers a stream's challenge with a single stream permit, with or without a step`(hasStep: Bool) async throws {
    let shop = VirtualShop(
      limits: ThrottleLimits(perHost: 1, streamsPerHost: 1),
      configure: {
        Self.signIn(&$0)
        if hasStep { $0.perAttemptSteps = [Passing()] }
      },
      answer: { number, request, _ in
        number % 2 == 1 ? .status(401, headers: Self.challenge("n\(number)"), for: request) : .json("{}", for: request)
      })
    for _ in 0..<2 {
      let response = try await shop.task().stream()
      #expect(try await response.body.collect() == Data("{}".utf8))
    }
    #expect(shop.sentCount == 4 && shop.manager.runningCount == 0)
  }

  @Test func `does not report a call as not sent if only the answer to its challenge can't be sent`() async throws {
    let stub = StubServer(.status(401, Self.challenge("n1")), .refused) {
      Self.signIn(&$0)
      $0.retryPolicy = .never
    }
    let error = await taskError { try await PlainTask().on(stub.server).run() }
    #expect(error?.code == .cannotConnect && error?.wasNotSent == false && stub.requests.count == 2)
  }

  @Test func `observers receive both requests but no credentials`() async throws {
    let shop = VirtualShop(
      configure: Self.signIn,
      answer: { number, request, _ in
        number == 1 ? .status(401, headers: Self.challenge("n1"), for: request) : .ok(request)
      })
    try await shop.task().run()
    let moments = shop.events.moments()
    #expect(moments.count { $0.contains("GET") && $0.contains("shop.test/widgets") } >= 2, "\(moments)")
    #expect(moments.contains { $0.contains("401") } && !moments.contains { $0.contains("response=") })
  }

  @Test func `caches responses per Digest account, regardless of the nonce`() async throws {
    let user = Shared("ann")
    let headers: HTTPHeaders = [.cacheControl: "max-age=60", .vary: "Authorization"]
    let shop = VirtualShop(
      configure: {
        $0.cache = MemoryCache()
        $0.preflight = { _, request in
          request.options.digest = Credential(user: user.withLock { $0 }, password: "sesame")
        }
      },
      answer: { number, request, _ in
        request.headers.contains(.authorization)
          ? .status(.ok, headers: headers, for: request)
          : .status(401, headers: Self.challenge("n\(number)"), for: request)
      })
    for _ in 0..<2 { try await shop.task().run() }
    #expect(shop.sentCount == 2)
    user.withLock { $0 = "bob" }
    try await shop.task().run()
    #expect(shop.sentCount == 4)
  }

  @Test func `does not authenticate a request with a user name in its URL`() throws {
    var options = TransferOptions()
    options.digest = Self.credential
    let urls = ["https://shop.test/", "https://ann@shop.test/", "https://ann:x@shop.test/"].map { URL.known($0) }
    let exchanges = urls.map { DigestExchange(HTTPRequest(.get, $0, options: options), DigestStore()) }
    #expect(exchanges.map { $0 == nil } == [false, true, true])
  }

  @Test func `a timeout after a slow challenge counts against the host's circuit breaker`() async throws {
    let shop = VirtualShop(
      configure: {
        Self.signIn(&$0)
        $0.circuitBreaker = CircuitBreaker(minimumCalls: 1)
        $0.retryPolicy = .never
      },
      answer: { number, request, clock in
        guard number > 1 else {
          clock.advance(by: .seconds(29))
          return .status(401, headers: Self.challenge("n1"), for: request)
        }
        throw TaskError.timeout(.attempt, after: request.options.timeouts.attempt ?? .zero, phase: .awaitingResponse)
      })
    let error = await taskError { try await shop.task().timeout(.seconds(30)).run() }
    #expect(error?.timer == .attempt && shop.sentCount == 2)
    let host = try #require(Origin(.known("https://shop.test")))
    #expect(shop.manager.circuit(of: host) == .open(for: .seconds(30)))
  }

  /// A body that takes half a second.
  private final class Slow: HTTPBodySource {
    private let clock: ManualClock
    private let isOver = Shared(false)

    init(_ clock: ManualClock) { self.clock = clock }

    func next() async throws -> Data? {
      let isFirst = isOver.withLock { isOver in
        defer { isOver = true }
        return !isOver
      }
      guard isFirst else { return nil }
      clock.advance(by: .milliseconds(500))
      return Data("no".utf8)
    }
  }

  @Test func `reading the challenge's body counts toward the attempt's timeout`() async throws {
    let limits = Shared<[Duration?]>([])
    let shop = VirtualShop(
      configure: {
        Self.signIn(&$0)
        $0.defaultTimeout = .seconds(60)
      },
      answer: { number, request, clock in
        limits.withLock { $0.append(request.options.timeouts.attempt) }
        guard number == 1 else { return .ok(request) }
        return HTTPResponse(
          401, url: request.url, headers: Self.challenge("n1"), body: HTTPResponseBody(Slow(clock)))
      })
    #expect(try await shop.task().run().status == .ok)
    #expect(limits.withLock { $0 } == [.seconds(60), .milliseconds(59_500)])
  }
}
