import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Memory use does not grow with the total number of origins.
@Suite(.timeLimit(.minutes(1))) struct OriginTablesTests {
  private func origin(_ number: Int) throws -> Origin {
    try #require(URL(string: "https://shop\(number).test").flatMap { Origin($0) })
  }

  @Test func `keeps the retry budget of a repeatedly failing host while dropping other hosts`() throws {
    var accounts = RetryAccounts(.standard)
    let bad = try origin(0)
    for _ in 0..<5 { _ = accounts.spend(for: bad) }
    for number in 1...5000 {
      let isSpent = accounts.spend(for: try origin(number))
      #expect(isSpent && accounts.hostCount <= RetryAccounts.mostHosts)
    }
    #expect(accounts.left(for: bad) == 5)
    let (first, last) = (try origin(1), try origin(5000))
    #expect(accounts.left(for: last) == 9 && accounts.left(for: first) == 10)
  }

  @Test func `drops an open circuit that has been unused for an hour`() {
    let settings = CircuitBreaker(window: .seconds(30), minimumCalls: 1, openDuration: .seconds(20))
    var circuit = Circuit()
    guard case .permit(let permit) = circuit.enter(at: .zero, settings) else {
      Issue.record("a closed circuit rejected a request")
      return
    }
    let isOpen = circuit.leave(permit, .failure, at: .zero, settings)
    #expect(isOpen)
    #expect(!circuit.isIdle(at: .seconds(3619)) && circuit.isIdle(at: .seconds(3620)))
    _ = circuit.enter(at: .seconds(3620), settings)
    #expect(!circuit.isIdle(at: .seconds(9999)), "a probe is running")
  }

  @Test func `drops the circuits of unused hosts, but keeps open circuits`() throws {
    let clock = ManualClock()
    let coordinator = CircuitRegistry(clock: CallClock(clock))
    let down = try origin(0)
    for _ in 0..<10 { try coordinator.permit(for: down, .standard).end(.failure) }
    for number in 1...1000 {
      try coordinator.permit(for: origin(number), .standard).end(.success)
      clock.advance(by: .seconds(1))
      #expect(coordinator.hostCount <= 64)
    }
    #expect(coordinator.circuit(of: down) == .halfOpen)
  }

  @Test func `drops hosts whose rate limit has recovered`() throws {
    var admission = Admission(limits: ThrottleLimits(rate: RateLimit(1, per: .seconds(20))))
    for number in 0..<1000 {
      let (host, now) = (try origin(number), Duration.seconds(number))
      #expect(admission.enter(number, host: host, priority: .normal, at: now) == .start)
      _ = admission.leave(host: host, at: now)
      #expect(admission.hostCount <= 65)
    }
    let last = try origin(999)
    #expect(
      admission.enter(1000, host: last, priority: .normal, at: .seconds(1000)) == .wait,
      "the host's rate limit has not recovered")
  }

  @Test func `keeps a host whose rate limit has not recovered`() throws {
    var admission = Admission(limits: ThrottleLimits(rate: RateLimit(1, per: .seconds(20))))
    for number in 0..<100 {
      let host = try origin(number)
      #expect(admission.enter(number, host: host, priority: .normal, at: .zero) == .start)
      _ = admission.leave(host: host, at: .zero)
    }
    #expect(admission.hostCount == 100)
    let first = try origin(0)
    #expect(admission.enter(100, host: first, priority: .normal, at: .seconds(19)) == .wait)
  }

  #if os(Linux)
    @Test func `offers HTTP/2 to an origin again after a while and remembers a limited number of origins`() {
      var origins = HTTP1OnlyOrigins()
      origins.learn("https://a.test:443", at: 5)
      let end = 5 + HTTP1OnlyOrigins.lifetime
      #expect(origins.contains("https://a.test:443", at: end - 1) && !origins.contains("https://a.test:443", at: end))
      #expect(!origins.contains("https://b.test:443", at: 6))
      for number in 0..<5000 { origins.learn("https://\(number).test:443", at: 6) }
      #expect(origins.count <= HTTP1OnlyOrigins.most && origins.contains("https://4999.test:443", at: 7))
    }

    @Test func `an origin keeps its multi handle only while a connection is open`() throws {
      let group = CurlGroup(id: 0, CurlRules(CurlTransport.Configuration()))
      let loop = try #require(CurlLoop.all.get().first)
      let multi = try #require(CurlMulti(id: .max, for: .brief, group: group, loop: loop))
      defer { multi.close() }
      group.sockets[7] = try origin(0).description
      for number in 0..<1000 {
        group.settle(try origin(number), in: multi)
        #expect(group.homeCount <= 64)
      }
      let (first, second) = (try origin(0), try origin(1))
      #expect(group.home(of: first) === multi && group.home(of: second) == nil)
    }
  #endif
}
