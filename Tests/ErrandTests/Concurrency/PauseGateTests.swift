import Errand
import ErrandTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct PauseGateTests {
  @Test func `an open gate lets all callers pass`() async throws {
    let gate = PauseGate()
    try await gate.pass()
    gate.close()
    gate.open()
    try await gate.pass()
  }

  @Test func `waiters at a closed gate pass when it opens`() async throws {
    let gate = PauseGate()
    let passed = Counter()
    gate.close()
    let waiters = (0..<10).map { _ in
      Task {
        try await gate.pass()
        passed.add()
      }
    }
    await giveWay(100)
    #expect(passed.count == 0)
    gate.open()
    for waiter in waiters { try await waiter.value }
    #expect(passed.count == 10)
  }

  @Test func `a cancelled waiter at a closed gate throws`() async {
    let gate = PauseGate()
    gate.close()
    let waiting = Task { try await gate.pass() }
    await giveWay(10)
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    let late = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      try await gate.pass()
    }
    await #expect(throws: CancellationError.self) { try await late.value }
  }
}
