import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// An attempt's duration is the time of its exchanges, without the waits between them.
@Suite(.timeLimit(.minutes(1))) struct AttemptDurationTests {
  @Test func `an attempt that times out in the queue has no duration`() async throws {
    let shop = VirtualShop(limits: ThrottleLimits(perHost: 1)) { _, request, clock in
      try await CallClock(clock).sleep(for: .seconds(1000))
      return .ok(request)
    }
    let first = Task { try await shop.task().run() }
    await shop.clock.sleepers(count: 1)
    let second = Task {
      await taskError { try await shop.task().timeouts(Timeouts(queue: .seconds(3))).retry(.never).run() }
    }
    await shop.clock.pass(.seconds(3), sleepers: 2)
    let attempt = await second.value?.attempts.first
    #expect(attempt?.duration == .zero && attempt?.queued == .seconds(3))
    first.cancel()
    _ = await first.result
  }

  @Test func `an attempt's duration includes both requests but not the token refresh between them`() async throws {
    let clock = Shared<ManualClock?>(nil)
    struct Slow: Authenticator {
      let clock: Shared<ManualClock?>
      func storedToken() async throws -> Int? { 1 }
      func apply(_ token: Int, to request: inout HTTPRequest) { request.headers["X-Token"] = "\(token)" }
      func refresh(_ token: Int?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> Int? {
        if let clock = clock.withLock({ $0 }) { try await CallClock(clock).sleep(for: .seconds(100)) }
        return 2
      }
    }
    let shop = VirtualShop(.autoAdvancing, configure: { $0.authentication = .custom(Slow(clock: clock)) }) {
      number, request, clock in
      try await CallClock(clock).sleep(for: .seconds(number))
      return number == 1 ? .status(401, for: request) : .ok(request)
    }
    clock.withLock { $0 = shop.clock }
    let response = try await shop.task().run()
    #expect(response.record.attempts.map(\.duration) == [.seconds(3)])
  }

  @Test func `the losing attempt of a race lasts until the race ends`() async throws {
    let shop = VirtualShop(budget: .standard) { number, request, clock in
      try await CallClock(clock).sleep(for: .seconds(number == 1 ? 100 : 2))
      return .ok(request)
    }
    let call = Task { try await shop.task().hedged(after: .seconds(1)).run() }
    await shop.clock.pass(.seconds(1), sleepers: 2)
    await shop.clock.pass(.seconds(2), sleepers: 3)  // both requests, and the delay before another hedge
    let attempts = try await call.value.record.attempts
    #expect(attempts.sorted { $0.number < $1.number }.map(\.duration) == [.seconds(3), .seconds(2)])
  }
}
