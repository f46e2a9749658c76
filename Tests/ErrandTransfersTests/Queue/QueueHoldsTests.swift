import Testing

@testable import Errand
@testable import ErrandTransfers

/// The delays of keys after a failed delivery.
@Suite(.timeLimit(.minutes(1))) struct QueueHoldsTests {
  @Test func `doubles a key's delay from one second up to five minutes`() {
    var holds = QueueHolds()
    var now = Duration.seconds(100)
    for wanted in [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300] {
      holds.hold("x", at: now, retryAfter: nil)
      #expect(holds.wait(for: ["x"], at: now) == .seconds(wanted))
      #expect(holds.holds("x", at: now + .seconds(wanted) - .milliseconds(1)) && !holds.holds("y", at: now))
      now += .seconds(wanted)
      #expect(!holds.holds("x", at: now))
    }
    holds.release("x")
    holds.hold("x", at: now, retryAfter: nil)
    #expect(holds.wait(for: ["x"], at: now) == .seconds(1))
  }

  @Test func `delays a key for as long as the server requests, up to five minutes`() {
    var holds = QueueHolds()
    holds.hold("x", at: .zero, retryAfter: .seconds(60))
    holds.hold("y", at: .zero, retryAfter: .seconds(Int64.max))
    #expect(holds.wait(for: ["x", "y"], at: .zero) == .seconds(60))
    #expect(holds.wait(for: ["y"], at: .zero) == .seconds(300))
    #expect(holds.wait(for: ["x", "z"], at: .zero) == .zero, "one of the keys is not held")
    #expect(holds.wait(for: [], at: .zero) == nil)
  }
}
