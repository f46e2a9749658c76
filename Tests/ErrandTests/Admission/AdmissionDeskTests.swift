import Errand
import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite struct AdmissionDeskTests {
  private let host: Origin

  init() throws { host = try #require(Origin(.known("https://a.test"))) }

  @Test func `a slot is free again when its last reference goes`() async throws {
    let desk = AdmissionDesk(limits: ThrottleLimits(perHost: 2))
    var slot: AdmissionSlot? = try await desk.slot(for: host, priority: .normal) {}
    var same = slot
    var other: AdmissionSlot? = try await desk.slot(for: host, priority: .normal) {}
    #expect(slot === same && other != nil && desk.running == 2)
    slot = nil
    #expect(same != nil && desk.running == 2)
    same = nil
    #expect(desk.running == 1)
    other = nil
    #expect(desk.running == 0)
  }

  @Test func `whoever is cancelled while waiting throws and leaves the line`() async throws {
    let desk = AdmissionDesk(limits: ThrottleLimits(perHost: 1))
    var slot: AdmissionSlot? = try await desk.slot(for: host, priority: .normal) {}
    let (waits, hasBegun) = AsyncStream<Void>.makeStream()
    let task = Task { [host] in _ = try await desk.slot(for: host, priority: .normal) { hasBegun.yield() } }
    for await _ in waits { break }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(desk.waiting == 0)
    #expect(slot != nil)
    slot = nil
    #expect(desk.running == 0)
  }

  @Test(arguments: 1...10) func `cancelling at any moment leaves no slot taken and nobody waiting`(seed: UInt64)
    async throws
  {
    let desk = AdmissionDesk(limits: ThrottleLimits(perHost: 2))
    var random = SeededGenerator(seed: seed)
    var tasks: [Task<Void, any Error>] = []
    for _ in 0..<300 {
      let priority = CallPriority.allCases.randomElement(using: &random) ?? .normal
      let yields = Int.random(in: 0..<4, using: &random)
      tasks.append(
        Task { [host] in
          let slot = try await desk.slot(for: host, priority: priority) {}
          await giveWay(yields)
          withExtendedLifetime(slot) {}
        })
      if Bool.random(using: &random), let victim = tasks.randomElement(using: &random) { victim.cancel() }
      if Int.random(in: 0..<50, using: &random) == 0 {
        desk.setLimits(ThrottleLimits(perHost: .random(in: 1...3, using: &random)))
      }
    }
    for task in tasks {
      if case .failure(let error) = await task.result { #expect(error is CancellationError) }
    }
    #expect(desk.running == 0 && desk.waiting == 0)
    _ = try await desk.slot(for: host, priority: .normal) {}
  }
}

extension AdmissionDesk {
  /// A slot for `host`; `waiting` is called when there is none at once.
  fileprivate func slot(for host: Origin, priority: CallPriority, waiting: () -> Void) async throws -> AdmissionSlot {
    switch try enter(host, priority: priority) {
    case .slot(let slot): return slot
    case .line(let ticket):
      waiting()
      return try await wait(ticket, host)
    }
  }
}
