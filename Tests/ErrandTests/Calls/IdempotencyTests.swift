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
}
