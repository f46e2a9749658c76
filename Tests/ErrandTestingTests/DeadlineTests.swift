import ErrandTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct DeadlineTests {
  @Test func `returns or throws a result that arrives in time`() async throws {
    #expect(try await Deadline(.seconds(60)).run { 7 } == 7)
    await #expect(throws: CancellationError.self) { try await Deadline(.seconds(60)).run { throw CancellationError() } }
  }

  @Test func `abandons work that ignores cancellation`() async throws {
    let (hung, continuation) = AsyncStream<Void>.makeStream()
    await #expect(throws: TransportConformance.Failure.self) {
      try await Deadline(.milliseconds(20)).run {
        // Cancellation does not end this work, because it awaits another task.
        await Task { for await _ in hung {} }.value
      }
    }
    continuation.finish()
  }
}
