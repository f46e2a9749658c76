import ErrandTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct DeadlineTests {
  @Test func `what ends in time has its result`() async throws {
    #expect(try await Deadline(.seconds(60)).run { 7 } == 7)
    await #expect(throws: CancellationError.self) { try await Deadline(.seconds(60)).run { throw CancellationError() } }
  }

  @Test func `what heeds nothing is left behind`() async throws {
    let (hung, continuation) = AsyncStream<Void>.makeStream()
    await #expect(throws: TransportConformance.Failure.self) {
      try await Deadline(.milliseconds(20)).run {
        // Cancelling does not end this: another task waits.
        await Task { for await _ in hung {} }.value
      }
    }
    continuation.finish()
  }
}
