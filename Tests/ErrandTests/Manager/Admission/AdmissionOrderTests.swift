import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Aging, limits, rates and complexity of ``Admission``.
@Suite(.timeLimit(.minutes(1))) struct AdmissionOrderTests {
  private let a: Origin
  private let b: Origin

  init() throws {
    a = try #require(URL(string: "https://a.test").flatMap { Origin($0) })
    b = try #require(URL(string: "https://b.test").flatMap { Origin($0) })
  }

  @Test func `a waiting request gains one priority level every ten seconds`() {
    var admission = Admission(limits: ThrottleLimits(perHost: 1))
    _ = admission.enter(1, host: a, priority: .normal, at: .zero)
    _ = admission.enter(2, host: a, priority: .low, at: .zero)
    _ = admission.enter(3, host: a, priority: .normal, at: .seconds(9))
    var early = admission
    #expect(early.leave(host: a, at: .seconds(9.9)) == [3])
    #expect(admission.leave(host: a, at: .seconds(10)) == [2])
  }

  @Test func `a background request becomes urgent after four aging intervals`() {
    var admission = Admission(limits: ThrottleLimits(perHost: 1, priorityAging: .seconds(2)))
    _ = admission.enter(1, host: a, priority: .urgent, at: .zero)
    _ = admission.enter(2, host: a, priority: .background, at: .zero)
    for second in 1...8 {
      _ = admission.enter(second + 2, host: a, priority: .urgent, at: .seconds(second))
      let started = admission.leave(host: a, at: .seconds(second))
      #expect(started == (second < 8 ? [second + 2] : [2]))
    }
  }

  @Test func `without aging, background requests wait for all other requests`() {
    var admission = Admission(limits: ThrottleLimits(perHost: 1, priorityAging: .zero))
    _ = admission.enter(1, host: a, priority: .normal, at: .zero)
    _ = admission.enter(2, host: a, priority: .background, at: .zero)
    _ = admission.enter(3, host: a, priority: .low, at: .seconds(1000))
    #expect(admission.leave(host: a, at: .seconds(100_000)) == [3])
  }

  @Test func `rejects requests beyond maximumWaiting and forgets them`() {
    var admission = Admission(limits: ThrottleLimits(perHost: 1, maximumWaiting: 2))
    let decisions = (1...4).map { admission.enter($0, host: a, priority: .normal, at: .zero) }
    #expect(decisions == [.start, .wait, .wait, .refuse])
    #expect(
      admission.enter(5, host: b, priority: .normal, at: .zero) == .start,
      "the limit does not apply to a request that can start immediately")
    #expect(admission.abandon(2, host: a, at: .zero) == true)
    #expect(admission.enter(6, host: a, priority: .normal, at: .zero) == .wait)
    #expect((0..<3).flatMap { _ in admission.leave(host: a, at: .zero) } == [3, 6])
  }

  @Test func `starts a burst immediately and the rest at the configured rate`() {
    let rate = RateLimit(2, per: .seconds(1), burst: 3)
    var admission = Admission(limits: ThrottleLimits(perHost: 0, rate: rate))
    let decisions = (1...6).map { admission.enter($0, host: a, priority: .normal, at: .zero) }
    #expect(decisions == [.start, .start, .start, .wait, .wait, .wait])
    #expect(admission.nextWake == .seconds(0.5))
    #expect(admission.wake(at: .seconds(0.5)) == [4])
    #expect(admission.wake(at: .seconds(0.9)) == [])
    #expect(admission.wake(at: .seconds(1)) == [5])
    #expect(admission.leave(host: a, at: .seconds(1.1)) == [], "request 6 waits for the rate limit, not for a slot")
    #expect(admission.nextWake == .seconds(1.5))
    #expect(admission.wake(at: .seconds(1.5)) == [6])
    #expect(admission.nextWake == nil)
  }

  @Test func `a host's rate limit does not delay other hosts`() {
    var admission = Admission(limits: ThrottleLimits(rate: RateLimit(1, per: .seconds(1))))
    #expect(admission.enter(1, host: a, priority: .normal, at: .zero) == .start)
    #expect(admission.enter(2, host: a, priority: .normal, at: .zero) == .wait)
    #expect(admission.enter(3, host: b, priority: .normal, at: .zero) == .start)
  }

  @Test func `a lowered limit does not leave waiters stuck`() {
    var admission = Admission(limits: ThrottleLimits(perHost: 3))
    for ticket in 1...6 { _ = admission.enter(ticket, host: a, priority: .normal, at: .zero) }
    #expect(admission.setLimits(ThrottleLimits(perHost: 1), at: .zero) == [])
    let started = (0..<6).map { _ in admission.leave(host: a, at: .zero) }
    #expect(started == [[], [], [4], [5], [6], []])
    #expect(admission.counts.isEmpty)
  }

  @Test func `raised limits start waiting requests immediately and in order`() {
    var admission = Admission(limits: ThrottleLimits(perHost: 1, total: 1, rate: RateLimit(1, per: .seconds(9))))
    for ticket in 1...3 { _ = admission.enter(ticket, host: a, priority: .normal, at: .zero) }
    _ = admission.enter(4, host: b, priority: .high, at: .zero)
    #expect(admission.setLimits(.unlimited, at: .zero) == [4, 2, 3])
    #expect(admission.waiting == 0 && admission.nextWake == nil)
  }

  @Test func `the cost per waiter does not grow with the number of waiters`() {
    func time(_ count: Int) -> Duration {
      processorTime {
        var admission = Admission(limits: ThrottleLimits(perHost: 1, total: 1))
        for ticket in 0..<count { _ = admission.enter(ticket, host: a, priority: .normal, at: .zero) }
        for ticket in stride(from: 1, to: count, by: 2) { _ = admission.abandon(ticket, host: a, at: .zero) }
        for _ in 0..<count / 2 { _ = admission.leave(host: a, at: .zero) }
        #expect(admission.waiting == 0)
      }
    }
    // Use the minimum of several runs, because other processes slow down some of them.
    let (small, large) = ((0..<4).map { _ in time(2000) }.min(), (0..<3).map { _ in time(20_000) }.min())
    #expect(
      (large ?? .zero) < (small ?? .zero) * 60,
      "the large run takes 10 times as long in linear time and 100 times as long in quadratic time")
  }
}
