import Errand
import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct AdmissionGateTests {
  private let host: Origin

  init() throws { host = try #require(Origin(.known("https://a.test"))) }

  @Test func `releases the slot when the exchange returns or throws`() async throws {
    let gate = AdmissionGate(limits: ThrottleLimits(perHost: 2))
    try await gate.withSlot(at: host) {
      try await gate.withSlot(at: host) { #expect(gate.running == 2) }
      #expect(gate.running == 1)
    }
    await #expect(throws: CancellationError.self) {
      try await gate.withSlot(at: host) { throw CancellationError() }
    }
    #expect(gate.running == 0)
  }

  @Test func `releases a permit when its last reference is released`() async throws {
    let gate = AdmissionGate(limits: ThrottleLimits(perHost: 2))
    var permit: StreamPermit? = try await gate.permit(at: host, .normal, within: nil) {}
    var same = permit
    permit = nil
    #expect(same != nil && gate.running == 1)
    same = nil
    #expect(gate.running == 0)
  }

  @Test func `a cancelled waiter throws and leaves the queue`() async throws {
    let gate = AdmissionGate(limits: ThrottleLimits(perHost: 1))
    try await gate.withSlot(at: host) {
      let (waits, hasBegun) = AsyncStream<Void>.makeStream()
      let task = Task { [host] in try await gate.withSlot(at: host, waiting: { hasBegun.yield() }) {} }
      for await _ in waits { break }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(gate.waiting == 0 && gate.running == 1)
    }
    #expect(gate.running == 0)
  }

  @Test(arguments: [true, false]) func `never loses a slot that is granted while the time limit expires`(
    isAdmittedFirst: Bool
  ) async throws {
    let clock = ManualClock()
    let gate = AdmissionGate(limits: ThrottleLimits(perHost: 1), clock: CallClock(clock))
    for _ in 0..<200 {
      let (isWaiting, mayEnd) = (Gate(), Gate())
      let holder = Task { [host] in try await gate.withSlot(at: host) { await mayEnd.wait() } }
      #expect(await eventually { gate.running == 1 })
      let waiter = Task { [host] in
        try await gate.withSlot(at: host, within: .seconds(1), waiting: { isWaiting.open() }) {}
      }
      await isWaiting.wait()
      await clock.sleepers(count: 1)
      if isAdmittedFirst { mayEnd.open() }
      clock.advance(by: .seconds(1))
      mayEnd.open()
      if case .failure(let error) = await waiter.result { #expect((error as? TaskError)?.timer == .queue) }
      try await holder.value
      #expect(gate.running == 0 && gate.waiting == 0)
    }
  }

  @Test func `a call that must not wait gets no slot and leaves no queue entry`() async throws {
    let gate = AdmissionGate(limits: ThrottleLimits(perHost: 1))
    try await gate.withSlot(at: host) {
      let error = await #expect(throws: TaskError.self) {
        try await gate.withSlot(at: host, .normal, within: nil, mayWait: false, onWait: { Issue.record("waits") }) {}
      }
      #expect(error?.code == .queueFull && gate.running == 1 && gate.waiting == 0)
    }
    try await gate.withSlot(at: host, .normal, within: nil, mayWait: false, onWait: {}) { #expect(gate.running == 1) }
  }

  @Test(arguments: 1...10) func `cancelling at any time releases all slots and waiters`(seed: UInt64)
    async throws
  {
    let gate = AdmissionGate(limits: ThrottleLimits(perHost: 2))
    var random = SeededGenerator(seed: seed)
    var tasks: [Task<Void, any Error>] = []
    for _ in 0..<300 {
      let priority = CallPriority.allCases.randomElement(using: &random) ?? .normal
      let yields = Int.random(in: 0..<4, using: &random)
      tasks.append(Task { [host] in try await gate.withSlot(at: host, priority: priority) { await giveWay(yields) } })
      if Bool.random(using: &random), let victim = tasks.randomElement(using: &random) { victim.cancel() }
      if Int.random(in: 0..<50, using: &random) == 0 {
        gate.setLimits(ThrottleLimits(perHost: .random(in: 1...3, using: &random)))
      }
    }
    for task in tasks {
      if case .failure(let error) = await task.result { #expect(error is CancellationError) }
    }
    #expect(gate.running == 0 && gate.waiting == 0)
    try await gate.withSlot(at: host) {}
  }
}

extension AdmissionGate {
  /// Runs `body` in a slot. Calls `waiting` if all slots are taken.
  fileprivate func withSlot(
    at host: Origin, priority: CallPriority = .normal, within limit: Duration? = nil, waiting: () -> Void = {},
    _ body: () async throws -> Void
  ) async throws {
    try await withSlot(at: host, priority, within: limit, onWait: waiting, exchange: body)
  }
}
