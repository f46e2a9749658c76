import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct IdempotencyTests {
  @Test func `retries a POST with an Idempotency-Key`() async throws {
    let stub = StubServer(.lost, .widget)
    try await AddWidget().on(stub.server).header(.idempotencyKey, "mine").run()
    #expect(stub.requests.map { $0.headers[.idempotencyKey] } == ["mine", "mine"])
  }

  @Test func `all attempts of a call share a key, and no two calls have the same key`() async throws {
    let stub = StubServer(.lost, .widget)
    for _ in 0..<2 { try await AddWidget().on(stub.server).idempotency(.key).run() }
    let keys = stub.requests.compactMap { $0.headers[.idempotencyKey] }
    #expect(keys.count == 3)
    #expect(keys[0] == keys[1])
    #expect(keys[1] != keys[2])
    #expect(keys[0].count == 32)
  }

  @Test(arguments: [true, false]) func `does not retry a POST if the key is empty or was removed`(isEmpty: Bool)
    async throws
  {
    struct Removal: PerAttemptStep {
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        request.headers.remove(.idempotencyKey)
        return try await next(request)
      }
    }
    let stub = StubServer(.lost) { if !isEmpty { $0.perAttemptSteps = [Removal()] } }
    let task = AddWidget().on(stub.server)
    let error = await #expect(throws: TaskError.self) {
      if isEmpty { try await task.header(.idempotencyKey, "").run() } else { try await task.idempotency(.key).run() }
    }
    #expect(error?.code == .connectionLost && stub.requests.count == 1)
  }

  /// A POST that generates a new key each time its header fields or its request are built.
  private struct NewKeyEachTime: ServerTask {
    let path = "widgets"
    let httpMethod = HTTPMethod.post
    let isInHeaders: Bool

    private var key: HTTPHeaders { [.idempotencyKey: UUID().uuidString] }
    var headers: HTTPHeaders { isInHeaders ? key : [:] }
    func preflight(_ request: inout HTTPRequest) async throws {
      if !isInHeaders { request.headers.replace(with: key) }
    }
  }

  @Test(arguments: [true, false], [Idempotency.automatic, .key])
  func `a retry sends the first attempt's key, even if the task generates a new key`(
    isInHeaders: Bool, idempotency: Idempotency
  ) async throws {
    let stub = StubServer(.lost, .widget)
    try await NewKeyEachTime(isInHeaders: isInHeaders).on(stub.server).idempotency(idempotency).run()
    let keys = stub.requests.compactMap { $0.headers[.idempotencyKey] }
    #expect(keys.count == 2 && keys[0] == keys[1])
  }

  @Test func `a retry sends the first attempt's key, even if the server's preflight sets a new key`() async throws {
    let stub = StubServer(.lost, .widget) {
      $0.preflight = { $1.headers[.idempotencyKey] = UUID().uuidString }
    }
    try await AddWidget().on(stub.server).run()
    let keys = stub.requests.compactMap { $0.headers[.idempotencyKey] }
    #expect(keys.count == 2 && keys[0] == keys[1])
  }

  @Test(arguments: [true, false], [Idempotency.automatic, .key])
  func `a handle's second run sends the first run's key, even if the task generates a new key`(
    isInHeaders: Bool, idempotency: Idempotency
  ) async throws {
    let stub = StubServer(.lost) { $0.retryPolicy = .never }
    let task = NewKeyEachTime(isInHeaders: isInHeaders).on(stub.server).idempotency(idempotency)
    let handle = stub.server.manager.start(task)
    await #expect(throws: TaskError.self) { try await handle.value }
    #expect(handle.retry())
    await #expect(throws: TaskError.self) { try await handle.value }
    let keys = stub.requests.compactMap { $0.headers[.idempotencyKey] }
    #expect(keys.count == 2 && keys[0] == keys[1])
  }

  @Test(arguments: [true, false])
  func `an event stream reconnects with its first key, even if the task generates a new key`(
    isInHeaders: Bool
  ) async throws {
    let events = StubLog.Answer.data(Data("data: hello\n\n".utf8), "text/event-stream")
    let stub = StubServer(events, .status(.noContent))
    for try await _ in NewKeyEachTime(isInHeaders: isInHeaders).on(stub.server).events() {}
    let keys = stub.requests.compactMap { $0.headers[.idempotencyKey] }
    #expect(keys.count == 2 && keys[0] == keys[1])
  }
}
