import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// The requests sent by retries and hedges.
@Suite(.timeLimit(.minutes(1))) struct RepeatedRequestTests {
  private struct Sealing: PerCallStep {
    var credential: Credential? = Credential(user: "somebody", password: "word")

    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      var request = request
      request.body = .bytes(Data("sealed".utf8), type: .octetStream)
      request.options.continueTimeout = .seconds(3)
      request.options.timeouts.firstByte = .seconds(4)
      request.options.digest = credential
      request.options.decodesBody = false
      request.options.allowsExpensiveNetworkAccess = false
      request.options.allowsConstrainedNetworkAccess = false
      request.options.waitsForConnectivity = true
      request.options.isLongLived = true
      request.options.pins.register("sha256/AAAA", for: "shop.test")
      request.options.context[Mark.self] = "step"
      request.options.credentialHeaders = ["X-Seal"]
      request.options.addressPolicy = .any
      request.headers.add("2", for: "X-Line")
      request.headers["X-Gone"] = nil
      return try await next(request)
    }
  }

  private enum Mark: TaskContextKey { static let defaultValue = "" }

  private struct Streaming: PerCallStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      var request = request
      request.body = .stream(length: 6) {
        AsyncStream {
          $0.yield(Data("stream".utf8)); $0.finish()
        }
      }
      return try await next(request)
    }
  }

  private struct Passing: PerCallStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      var request = request
      request.headers["X-Step"] = "1"
      return try await next(request)
    }
  }

  private struct Counting: ServerPUTTask {
    let server: Server
    let headersRead = Counter()
    let bodiesRead = Counter()
    var path: String { "a" }
    var headers: HTTPHeaders {
      headersRead.add()
      return ["X-Count": "\(headersRead.count)"]
    }
    func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
      bodiesRead.add()
      return .bytes(Data("body \(bodiesRead.count)".utf8))
    }
  }

  private func check(
    _ requests: [HTTPRequest], credential: Credential? = Credential(user: "somebody", password: "word")
  ) throws {
    try #require(requests.count == 2)
    for request in requests {
      #expect(request.body.data == Data("sealed".utf8))
      #expect(request.options.continueTimeout == .seconds(3))
      #expect(request.options.timeouts.firstByte == .seconds(4))
      #expect(request.options.digest == credential)
      #expect(!request.options.decodesBody && request.options.waitsForConnectivity && request.options.isLongLived)
      #expect(!request.options.allowsExpensiveNetworkAccess && !request.options.allowsConstrainedNetworkAccess)
      #expect(request.options.pins.pins(for: "shop.test") == ["AAAA"])
      #expect(request.options.context[Mark.self] == "step")
      #expect(request.options.credentialHeaders == ["X-Seal"] && !request.options.addressPolicy.isInherited)
      #expect(request.headers.values(for: "X-Line") == ["1", "2"])
      #expect(!request.headers.contains("X-Gone"))
    }
  }

  private func sealed(_ stub: StubServer) -> Modified<PlainTask> {
    PlainTask().on(stub.server).modified {
      $0.httpMethod = .put
      $0.headers = ["X-Line": "1", "X-Gone": "1"]
    }
  }

  @Test func `a retry keeps all changes made by per-call steps`() async throws {
    let stub = StubServer(.status(503), .status(.ok)) { $0.perCallSteps = [Sealing()] }
    try await sealed(stub).run()
    try check(stub.requests)
  }

  @Test func `a hedge keeps all changes made by per-call steps`() async throws {
    let seen = Shared<[HTTPRequest]>([])
    let shop = VirtualShop(
      configure: { $0.perCallSteps = [Sealing(credential: nil)] },
      answer: { number, request, clock in
        seen.withLock { $0.append(request) }
        if number == 1 { try await clock.sleep(for: .seconds(60)) }
        return .ok(request)
      })
    let task = PlainTask().on(shop.server).hedged(after: .seconds(1)).modified {
      $0.httpMethod = .query
      $0.headers = ["X-Line": "1", "X-Gone": "1"]
    }
    let call = Task { try await task.run().status }
    await shop.clock.pass(.seconds(1), sleepers: 2)
    #expect(try await call.value == .ok)
    try check(seen.withLock { $0 }, credential: nil)
  }

  /// Turns every request into a POST.
  private struct Posting: PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      var request = request
      request.method = .post
      return try await next(request)
    }
  }

  @Test func `the method set by a step determines whether a request is retried`() async throws {
    let stub = StubServer(.lost, .status(.ok)) { $0.perAttemptSteps = [Posting()] }
    let error = await taskError { try await PlainTask().on(stub.server).run() }
    #expect(error?.code == .connectionLost && error?.retryRefusal?.contains("POST") == true)
    #expect(stub.requests.count == 1)
    let unsent = StubServer(.refused, .status(.ok)) { $0.perAttemptSteps = [Posting()] }
    try await PlainTask().on(unsent.server).run()
    #expect(unsent.requests.map(\.method) == [.post, .post], "the first request was not sent")
    let keyed = StubServer(.lost, .status(.ok)) { $0.perAttemptSteps = [Posting()] }
    try await PlainTask().on(keyed.server).idempotency(.safeToRepeat).run()
    #expect(keyed.requests.count == 2)
  }

  @Test func `does not hedge a request that a step turned into a POST`() async throws {
    let shop = VirtualShop(
      configure: { $0.perAttemptSteps = [Posting()] },
      answer: { _, request, clock in
        try await clock.sleep(for: .seconds(60))
        return .ok(request)
      })
    let call = Task { try await shop.task().hedged(after: .seconds(1)).run().status }
    await shop.clock.pass(.seconds(60), sleepers: 1)
    #expect(try await call.value == .ok)
    #expect(shop.sentCount == 1)
  }

  @Test func `a retry resends a stream set by a step`() async throws {
    let stub = StubServer(.status(503), .status(.ok)) { $0.perCallSteps = [Streaming()] }
    try await sealed(stub).run()
    for request in stub.requests {
      let body = Shared(Data())
      try await request.body.forEachChunk { chunk in body.withLock { $0.append(chunk) } }
      #expect(body.withLock { $0 } == Data("stream".utf8))
    }
    #expect(stub.requests.count == 2)
  }

  @Test func `a retry recomputes the task's headers and body and keeps a step's changes`() async throws {
    let stub = StubServer(.status(503), .status(.ok)) {
      $0.perCallSteps = [Passing()]
      $0.preflight = { _, request in request.headers["X-Preflight"] = request.headers["X-Count"] }
    }
    let task = Counting(server: stub.server)
    try await task.run()
    let counts = stub.requests.map { $0.headers["X-Count"] }
    #expect(counts == ["1", "2"])
    #expect(stub.requests.map { $0.headers["X-Preflight"] } == counts)
    #expect(stub.requests.map { $0.headers["X-Step"] } == ["1", "1"])
    #expect(stub.requests.map { $0.body.data } == ["body 1", "body 2"].map { Data($0.utf8) })
  }

  @Test func `computes headers after waiting for a serial queue`() async throws {
    let gate = Gate()
    let began = Counter()
    let transport = StubTransport { request in
      began.add()
      await gate.wait()
      return .status(.ok, headers: ["X-Count": request.headers["X-Count"] ?? ""], for: request)
    }
    let server = Server("https://shop.test", transport: transport, environment: [:])
    let first = Task { try await PlainTask().on(server).serialQueue(.named("q")).run() }
    await began.reached(1)
    let token = Shared("old")
    let second = Task { try await Dated(token: token).on(server).serialQueue(.named("q")).run() }
    #expect(await eventually { server.manager.callCount >= 2 })
    await giveWay(100)
    token.withLock { $0 = "new" }
    gate.open()
    _ = try await first.value
    #expect(try await second.value.headers["X-Count"] == "new")
  }

  private struct Dated: ServerGETTask {
    let token: Shared<String>
    var path: String { "a" }
    var headers: HTTPHeaders { ["X-Count": token.withLock { $0 }] }
  }

  @Test func `a retry keeps a modifier's header and recomputes the task's headers`() async throws {
    let stub = StubServer(.status(503), .status(.ok))
    try await Counting(server: stub.server).header("X-Own", "1").on(stub.server).run()
    #expect(stub.requests.map { $0.headers["X-Own"] } == ["1", "1"])
    #expect(Set(stub.requests.map { $0.headers["X-Count"] }).count == 2)
  }
}
