import ErrandTesting
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct CallClockTests {
  private let manual = ManualClock()
  private var clock: CallClock { CallClock(manual) }

  @Test func `returns a value that arrives as the time limit expires`() async throws {
    let value = wait { try? await Self.untilCancelled() }
    await manual.sleepers(count: 1)
    manual.advance(by: .seconds(1))
    #expect(try await value.value == 7)
  }

  @Test func `returns a value that arrives as the caller is cancelled`() async throws {
    let value = wait { try? await Self.untilCancelled() }
    await manual.sleepers(count: 1)
    value.cancel()
    #expect(try await value.value == 7)
  }

  @Test func `returns nil when the time limit expires and throws if the caller is cancelled`() async throws {
    let (expired, cancelled) = (wait(for: Self.untilCancelled), wait(for: Self.untilCancelled))
    await manual.sleepers(count: 2)
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    manual.advance(by: .seconds(1))
    #expect(try await expired.value == nil)
  }

  private static func untilCancelled() async throws {
    try await CallClock(ManualClock()).sleep(for: .seconds(1))
  }

  private func wait(for body: @escaping @Sendable () async throws -> Void) -> Task<Int?, any Error> {
    Task { [clock] in
      try await clock.within(.seconds(1)) {
        try await body()
        return 7
      }
    }
  }
}
