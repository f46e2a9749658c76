import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite struct CircuitBreakerTests {
  private let host: Origin

  init() throws { host = try #require(URL(string: "https://shop.test").flatMap { Origin($0) }) }

  private func make(
    _ breaker: CircuitBreaker = .standard, budget: RetryBudget = .unlimited,
    answer: @escaping @Sendable (Int, HTTPRequest, ManualClock) async throws -> HTTPResponse
  ) -> VirtualShop {
    VirtualShop(
      budget: budget,
      configure: { configuration in
        configuration.circuitBreaker = breaker
        configuration.retryPolicy = .never
      }, answer: answer)
  }

  @Test func `a host that fails everything gets the first ten, then one probe in thirty seconds`() async throws {
    let shop = make { _, request, _ in .unavailable(request) }
    for second in 0..<300 {
      let error = await taskError { try await shop.task().run() }
      #expect(error?.code == (shop.sentCount <= 10 && second < 10 || second % 30 == 9 ? .badStatus : .circuitOpen))
      shop.clock.advance(by: .seconds(1))
    }
    #expect(shop.sentCount == 10 + 9)
    #expect(shop.events.isBalanced)
  }

  @Test func `the error says until when`() async throws {
    let shop = make { _, request, _ in .unavailable(request) }
    for _ in 0..<10 { _ = try? await shop.task().run() }
    shop.clock.advance(by: .seconds(12))
    let error = try #require(await taskError { try await shop.task(method: .post).run() })
    #expect(error.code == .circuitOpen && error.isSurelyNotSent && !error.isRetryable)
    #expect(error.reason == "https://shop.test:443 failed too often: nothing is sent to it for another 18.000 s")
    #expect(shop.manager.circuit(of: host) == .open(for: .seconds(18)))
  }

  @Test func `a probe that succeeds closes it`() async throws {
    let shop = make { number, request, _ in number <= 10 ? .unavailable(request) : .ok(request) }
    for _ in 0..<10 { _ = try? await shop.task().run() }
    shop.clock.advance(by: .seconds(30))
    for _ in 0..<5 { try await shop.task().run() }
    #expect(shop.manager.circuit(of: host) == .closed)
  }

  @Test func `while the probe is under way others fail at once`() async throws {
    let shop = make { number, request, clock in
      if number <= 10 { return .unavailable(request) }
      try await CallClock(clock).sleep(for: .seconds(5))
      return .ok(request)
    }
    for _ in 0..<10 { _ = try? await shop.task().run() }
    shop.clock.advance(by: .seconds(30))
    let probe = Task { try await shop.task().run() }
    await shop.clock.sleepers(count: 1)
    #expect(await taskError { try await shop.task().run() }?.code == .circuitOpen)
    shop.clock.advance(by: .seconds(5))
    _ = try await probe.value
    #expect(shop.manager.circuit(of: host) == .closed)
  }

  @Test func `a cancelled probe lets another try`() async throws {
    let shop = make { number, request, clock in
      if number <= 10 { return .unavailable(request) }
      if number == 11 { try await CallClock(clock).sleep(for: .seconds(5)) }
      return .ok(request)
    }
    for _ in 0..<10 { _ = try? await shop.task().run() }
    shop.clock.advance(by: .seconds(30))
    let probe = Task { try await shop.task().run() }
    await shop.clock.sleepers(count: 1)
    probe.cancel()
    await #expect(throws: CancellationError.self) { try await probe.value }
    try await shop.task().run()
    #expect(shop.manager.circuit(of: host) == .closed)
  }

  @Test func `answers below 500 and failures of this side keep it closed`() async throws {
    let shop = make { number, request, _ in
      if number % 2 == 0 { return .status(.notFound, for: request) }
      throw TaskError(.offline, "no network", phase: .connecting)
    }
    for _ in 0..<50 { _ = try? await shop.task().run() }
    #expect(shop.sentCount == 50 && shop.manager.circuit(of: host) == .closed)
  }

  @Test func `a deadline counts against a host that had the time, not against the line`() async throws {
    let breaker = CircuitBreaker(minimumCalls: 1)
    let hangs = make(breaker) { _, request, clock in
      try await CallClock(clock).sleep(for: .seconds(1000))
      return .ok(request)
    }
    let call = Task { try await hangs.task().deadline(.seconds(4)).run() }
    await hangs.clock.pass(.seconds(4), sleepers: 2)
    #expect(await taskError { _ = try await call.value }?.timer == .call)
    #expect(hangs.manager.circuit(of: host) == .open(for: .seconds(30)))

    let crowded = make(breaker) { _, request, clock in
      try await CallClock(clock).sleep(for: .seconds(3))
      return .ok(request)
    }
    await crowded.manager.setLimits(ThrottleLimits(perHost: 1))
    let first = Task { try await crowded.task().run() }
    await crowded.clock.sleepers(count: 1)
    let second = Task { try await crowded.task().deadline(.seconds(4)).run() }
    #expect(await eventually { crowded.manager.waitingCount == 1 })
    await crowded.clock.pass(.seconds(3), sleepers: 2)
    _ = try await first.value
    await crowded.clock.pass(.seconds(1), sleepers: 2)
    #expect(await taskError { _ = try await second.value }?.timer == .call)
    #expect(crowded.manager.circuit(of: host) == .closed)
  }

  @Test(arguments: [HTTPStatus.serviceUnavailable, .ok])
  func `the answer to a probe counts with its head where the caller reads the body`(status: HTTPStatus) async throws {
    let shop = make { number, request, _ in number <= 10 ? .unavailable(request) : .status(status, for: request) }
    for _ in 0..<10 { _ = try? await shop.task().run() }
    shop.clock.advance(by: .seconds(30))
    let response = try await shop.task().accepting(.returningOthers).stream()
    #expect(shop.manager.circuit(of: host) == (status == .ok ? .closed : .open(for: .seconds(30))))
    #expect(response.status == status)
  }
}
