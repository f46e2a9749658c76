import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Compares ``Admission`` with a slow but simple model over thousands of random events.
@Suite(.timeLimit(.minutes(1))) struct AdmissionModelTests {
  private struct Model {
    struct Waiter {
      let ticket: Int
      let host: Int
      let priority: CallPriority
      let since: Duration
    }

    var limits: ThrottleLimits
    var running = [0, 0, 0]
    var waiters: [Waiter] = []

    mutating func admit(at now: Duration) -> [Int] {
      var started: [Int] = []
      while limits.total == 0 || running.reduce(0, +) < limits.total {
        let candidates = waiters.filter { limits.perHost == 0 || running[$0.host] < limits.perHost }
        let best = candidates.max { (rank($0, now), -$0.ticket) < (rank($1, now), -$1.ticket) }
        guard let best else { break }
        waiters.removeAll { $0.ticket == best.ticket }
        running[best.host] += 1
        started.append(best.ticket)
      }
      return started
    }

    private func rank(_ waiter: Waiter, _ now: Duration) -> Int {
      min(4, waiter.priority.rawValue + Int((now - waiter.since) / limits.priorityAging))
    }
  }

  @Test(arguments: 1...20) func `behaves like the model during random events`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let hosts = try (0..<3).map { try #require(URL(string: "https://host\($0).test").flatMap { Origin($0) }) }
    func limits() -> ThrottleLimits {
      ThrottleLimits(
        perHost: .random(in: 0...4, using: &random), total: .random(in: 0...8, using: &random),
        priorityAging: .seconds(3))
    }
    var model = Model(limits: limits())
    var admission = Admission(limits: model.limits)
    var now = Duration.zero
    for ticket in 1...600 {
      now += .milliseconds(Int.random(in: 0...800, using: &random))
      let host = Int.random(in: 0..<3, using: &random)
      switch Int.random(in: 0..<100, using: &random) {
      case 0..<50:
        let priority = CallPriority.allCases.randomElement(using: &random) ?? .normal
        model.waiters.append(.init(ticket: ticket, host: host, priority: priority, since: now))
        let isStarted = model.admit(at: now) == [ticket]
        #expect(admission.enter(ticket, host: hosts[host], priority: priority, at: now) == (isStarted ? .start : .wait))
      case 50..<85 where model.running[host] > 0:
        model.running[host] -= 1
        #expect(admission.leave(host: hosts[host], at: now) == model.admit(at: now))
      case 85..<95:
        guard let waiter = model.waiters.randomElement(using: &random) else { continue }
        model.waiters.removeAll { $0.ticket == waiter.ticket }
        #expect(admission.abandon(waiter.ticket, host: hosts[waiter.host], at: now) == true)
      default:
        model.limits = limits()
        #expect(admission.setLimits(model.limits, at: now) == model.admit(at: now))
      }
      #expect(admission.waiting == model.waiters.count && admission.running == model.running.reduce(0, +))
    }
  }
}
