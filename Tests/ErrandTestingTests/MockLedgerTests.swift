import Errand
import Testing

@testable import ErrandTesting

@Suite(.timeLimit(.minutes(1))) struct MockLedgerTests {
  @Test func `waiting for a request ends when a request is recorded`() async throws {
    var ledger = MockLedger(requestLimit: .max)
    let request = try await withCheckedThrowingContinuation { continuation in
      #expect(ledger.wait(ledger.newID(), for: .request, continuation).isEmpty)
      Self.resume(ledger.record(Self.request("/x")), or: continuation)
    }
    #expect(request?.target == "/x")
  }

  @Test func `waiting for open connections ends when the count is reached`() async throws {
    var ledger = MockLedger(requestLimit: .max)
    _ = ledger.open(MockSocket(descriptor: -1))
    _ = ledger.open(MockSocket(descriptor: -2))
    let request = try await withCheckedThrowingContinuation { continuation in
      #expect(ledger.wait(ledger.newID(), for: .openConnections(0), continuation).isEmpty)
      #expect(ledger.close(MockSocket(descriptor: -1)).isEmpty)
      Self.resume(ledger.close(MockSocket(descriptor: -2)), or: continuation)
    }
    #expect(request == nil)
  }

  private static func request(_ target: String) -> MockRequest {
    MockRequest(MockRequestHead(method: .get, target: target))
  }

  /// Resumes the continuation with the only arrival, or with an error if nothing arrived.
  private static func resume(
    _ arrivals: [MockLedger.Arrival], or continuation: CheckedContinuation<MockRequest?, any Error>
  ) {
    #expect(arrivals.count == 1)
    guard let arrival = arrivals.first else { return continuation.resume(throwing: MockServerError.stopped) }
    arrival.continuation.resume(returning: arrival.request)
  }
}
