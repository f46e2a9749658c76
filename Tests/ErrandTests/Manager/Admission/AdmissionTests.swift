import Errand
import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct AdmissionTests {
  private let a: Origin
  private let b: Origin

  init() throws {
    a = try #require(Origin(.known("https://a.test")))
    b = try #require(Origin(.known("https://b.test")))
  }

  private func make(perHost: Int = 0, total: Int = 0) -> Admission {
    Admission(limits: ThrottleLimits(perHost: perHost, total: total))
  }

  @Test func `a host runs no more requests than its limit`() {
    var admission = make(perHost: 2)
    let decisions = (1...3).map { admission.enter($0, host: a, priority: .normal) }
    #expect(decisions == [.start, .start, .wait])
    #expect(admission.running == 2 && admission.waiting == 1)
    #expect(admission.leave(host: a) == [3])
    #expect(admission.leave(host: a) == [])
  }

  @Test func `the total limit counts all hosts`() {
    var admission = make(total: 1)
    #expect(admission.enter(1, host: a, priority: .normal) == .start)
    #expect(admission.enter(2, host: b, priority: .normal) == .wait)
    #expect(admission.leave(host: a) == [2])
  }

  @Test func `a full host does not delay another host`() {
    var admission = make(perHost: 1, total: 2)
    #expect(admission.enter(1, host: a, priority: .normal) == .start)
    #expect(admission.enter(2, host: a, priority: .urgent) == .wait)
    #expect(admission.enter(3, host: b, priority: .background) == .start)
  }

  @Test func `a slot freed by one host goes to a host below its limit`() {
    var admission = make(perHost: 1, total: 2)
    for (ticket, host) in [(1, a), (2, a), (3, b), (4, b)] {
      _ = admission.enter(ticket, host: host, priority: .normal)
    }
    #expect(admission.leave(host: b) == [4], "request 2 came first, but host a has no free slot")
  }

  @Test func `serves requests by priority, then in order of arrival`() {
    var admission = make(perHost: 1)
    _ = admission.enter(1, host: a, priority: .normal)
    for (ticket, priority) in [(2, CallPriority.low), (3, .urgent), (4, .normal), (5, .urgent), (6, .background)] {
      _ = admission.enter(ticket, host: a, priority: priority)
    }
    #expect((0..<5).flatMap { _ in admission.leave(host: a) } == [3, 5, 4, 2, 6])
  }

  @Test func `priority and arrival order apply across hosts`() {
    var admission = make(total: 1)
    _ = admission.enter(1, host: a, priority: .normal)
    for (ticket, host, priority) in [(2, a, CallPriority.normal), (3, b, .normal), (4, b, .high)] {
      _ = admission.enter(ticket, host: host, priority: priority)
    }
    #expect(admission.leave(host: a) == [4])
    #expect(admission.leave(host: b) == [2])
    #expect(admission.leave(host: a) == [3])
  }

  @Test func `a raised limit starts waiting requests immediately`() {
    var admission = make(perHost: 1)
    for ticket in 1...4 { _ = admission.enter(ticket, host: a, priority: .normal) }
    #expect(admission.setLimits(ThrottleLimits(perHost: 3)) == [2, 3])
    #expect(admission.setLimits(.unlimited) == [4])
  }

  private func rated(_ rate: RateLimit) -> ThrottleLimits { ThrottleLimits(perHost: 0, rate: rate) }

  @Test func `a raised rate starts waiting requests immediately`() {
    var admission = Admission(limits: rated(RateLimit(1, per: .seconds(30))))
    let decisions = (1...3).map { admission.enter($0, host: a, priority: .normal) }
    #expect(decisions == [.start, .wait, .wait])
    #expect(admission.setLimits(rated(RateLimit(1000, per: .seconds(1)))) == [2, 3])
    #expect(admission.nextWake == nil)
  }

  @Test func `a new rate counts earlier starts, up to the burst size`() {
    // There are 100 starts in the first second of a minute. Half of them have expired after 30 s.
    for (seconds, rate, next) in [
      (0, RateLimit(10, per: .seconds(1)), Duration.milliseconds(100)),
      (30, RateLimit(40, per: .seconds(60)), .milliseconds(1500)), (30, RateLimit(60, per: .seconds(60)), .zero),
      (30, RateLimit(200, per: .seconds(60)), .zero), (0, RateLimit(100, per: .seconds(600)), .seconds(6)),
      (0, .none, .zero),
    ] {
      let now = Duration.seconds(seconds)
      var admission = Admission(limits: rated(RateLimit(100, per: .seconds(60))))
      for ticket in 1...100 { #expect(admission.enter(ticket, host: a, priority: .normal) == .start) }
      #expect(admission.setLimits(rated(rate), at: now) == [])
      #expect(admission.enter(101, host: a, priority: .normal, at: now) == (next == .zero ? .start : .wait), "\(rate)")
      #expect(admission.nextWake == (next == .zero ? nil : now + next), "\(rate)")
    }
  }

  @Test func `a new rate ignores starts from before a period without a rate limit`() {
    let rate = RateLimit(1, per: .seconds(30))
    var admission = Admission(limits: rated(rate))
    #expect(admission.enter(1, host: a, priority: .normal) == .start)
    #expect(admission.setLimits(rated(.none)) == [] && admission.setLimits(rated(rate)) == [])
    #expect(admission.enter(2, host: a, priority: .normal) == .start)
    #expect(admission.enter(3, host: a, priority: .normal) == .wait)
  }

  @Test func `changing other limits keeps the history of the rate limit`() {
    let rate = RateLimit(1, per: .seconds(30))
    var admission = Admission(limits: rated(rate))
    for ticket in 1...2 { _ = admission.enter(ticket, host: a, priority: .normal) }
    #expect(admission.setLimits(ThrottleLimits(perHost: 5, rate: rate), at: .seconds(10)) == [])
    #expect(admission.nextWake == .seconds(30) && admission.wake(at: .seconds(30)) == [2])
  }

  @Test func `a lowered limit lets running requests finish and does not leave waiters stuck`() {
    var admission = make(perHost: 3)
    for ticket in 1...5 { _ = admission.enter(ticket, host: a, priority: .normal) }
    #expect(admission.setLimits(ThrottleLimits(perHost: 1)) == [])
    #expect(admission.leave(host: a) == [])
    #expect(admission.leave(host: a) == [])
    #expect(admission.leave(host: a) == [4])
    #expect(admission.leave(host: a) == [5])
    #expect(admission.leave(host: a) == [])
    #expect(admission.running == 0 && admission.waiting == 0)
  }

  @Test func `abandoning a wait frees no slot and starts nothing`() {
    var admission = make(perHost: 1)
    for ticket in 1...3 { _ = admission.enter(ticket, host: a, priority: .normal) }
    #expect(admission.abandon(2, host: a) == true)
    #expect(admission.abandon(2, host: a) == false, "a wait can be abandoned only once")
    #expect(admission.abandon(1, host: a) == false, "request 1 is already running")
    #expect(admission.leave(host: a) == [3])
  }

  @Test func `forgets hosts without requests`() {
    var admission = make(perHost: 1)
    _ = admission.enter(1, host: a, priority: .normal)
    _ = admission.enter(2, host: a, priority: .normal)
    #expect(admission.counts[a]?.waiting == 1)
    _ = admission.abandon(2, host: a)
    _ = admission.leave(host: a)
    #expect(admission.counts.isEmpty)
  }

  @Test(arguments: 1...20) func `random events never exceed a limit or leave a waiter stuck`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var admission = make(perHost: 3, total: 4)
    var running: [Origin] = []
    var waiting: [Int: Origin] = [:]
    for ticket in 1...2000 {
      var started: [Int] = []
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5:
        let host = Bool.random(using: &random) ? a : b
        let priority = CallPriority.allCases.randomElement(using: &random) ?? .normal
        waiting[ticket] = host
        if admission.enter(ticket, host: host, priority: priority) == .start { started = [ticket] }
      case 5..<9:
        guard let index = running.indices.randomElement(using: &random) else { continue }
        started = admission.leave(host: running.remove(at: index))
      default:
        if let (ticket, host) = waiting.randomElement(using: &random) {
          #expect(admission.abandon(ticket, host: host) == true)
          waiting[ticket] = nil
        }
        let limits = ThrottleLimits(
          perHost: .random(in: 1...4, using: &random), total: .random(in: 1...6, using: &random))
        started = admission.setLimits(limits)
      }
      for ticket in started { running.append(waiting.removeValue(forKey: ticket) ?? a) }
      #expect(admission.running == running.count && admission.waiting == waiting.count)
      let hasRoom = running.count < admission.limits.total
      let stranded = waiting.values.contains { host in running.count { $0 == host } < admission.limits.perHost }
      #expect(!(hasRoom && stranded), "a request is waiting although it could run")
    }
  }
}
