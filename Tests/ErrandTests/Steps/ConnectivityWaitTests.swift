import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct ConnectivityWaitTests {
  private static let refused = TaskError(.cannotConnect, "refused", phase: .connecting, wasNotSent: true)

  /// A `Reachability` that never reports a connection.
  private struct NeverReachable: Reachability {
    func waitUntilReachable(_ origin: Origin, failures: Int, clock: CallClock) async throws {
      try await clock.sleep(for: .seconds(3600))
    }
  }

  private func shop(
    _ reachability: any Reachability = NeverReachable(), failure: TaskError = refused
  ) -> VirtualShop {
    VirtualShop(
      configure: { configuration in
        configuration.waitsForConnectivity = true
        configuration.connectivityTimeout = .seconds(1)
        configuration.reachability = reachability
        configuration.retryPolicy = .fixed(retries: 2, delay: .seconds(5))
      }, answer: { _, _, _ in throw failure })
  }

  @Test func `waits for a network up to connectivityTimeout per call, not per attempt`() async throws {
    let shop = shop()
    let call = Task { try await shop.task().run() }
    await shop.clock.sleepers(count: 2)  // the wait for the network and its timeout
    shop.clock.advance(by: .seconds(1))
    // Only the two delays of the retry policy follow.
    for count in 1...2 {
      #expect(await eventually { shop.moments(containing: "to retry").count >= count })
      await shop.clock.sleepers(count: 1)
      #expect(shop.clock.sleeperCount == 1)
      shop.clock.advance(by: .seconds(5))
    }
    let error = try #require(await taskError { _ = try await call.value })
    #expect(error.code == .cannotConnect && error.elapsed == .seconds(11) && shop.sentCount == 3)
    #expect(error.reason.contains("connectivityTimeout"), "\(error)")
  }

  @Test func `reports a deadline that expires during the wait and records the reason for the wait`() async throws {
    let shop = shop()
    let call = Task { try await shop.task().deadline(.milliseconds(500)).run() }
    await shop.clock.sleepers(count: 3)  // the wait for the network, its timeout and the deadline
    shop.clock.advance(by: .milliseconds(500))
    let error = try #require(await taskError { _ = try await call.value })
    #expect(error.timer == .call && error.phase == .awaitingNetwork && error.isOffline, "\(error)")
    #expect(error.reason.hasSuffix("while waiting for a network"))
    #expect(error.diagnosis?.cause == "no network connection")
    let wait = error.record.entries.map(\.moment).filter { $0.kind.hasPrefix("networkWait") }.map { "\($0)" }
    #expect(wait == ["waiting for a network: refused", "finished waiting for a network"])
  }

  @Test func `reports why the request was not sent even if its one-shot body can't be resent`() async throws {
    let shop = VirtualShop(
      configure: { configuration in
        configuration.waitsForConnectivity = true
        configuration.reachability = PollingReachability(longest: .zero)
        configuration.retryPolicy = .never
      },
      answer: { number, _, _ in
        guard number > 1 else { throw Self.refused }
        throw TaskError(.bodyNotReplayable, "the body can only be read once", phase: .sending)
      })
    let call = Task { try await shop.task(method: .post).run() }
    await shop.clock.pass(.milliseconds(100), sleepers: 2)
    let error = try #require(await taskError { _ = try await call.value })
    #expect(error.code == .cannotConnect && shop.sentCount == 2, "\(error)")
    #expect(error.reason == "refused; not retried: the request body can only be read once")
  }

  @Test func `does not wait for a network if the request may have been sent`() async throws {
    let shop = shop(failure: TaskError(.offline, "the network went away", phase: .awaitingResponse))
    let error = try #require(await taskError { try await shop.task(method: .post).run() })
    #expect(error.code == .offline && error.elapsed == .zero && shop.sentCount == 1)
  }

  @Test func `waits between attempts even if Reachability returns immediately`() async throws {
    struct Always: Reachability {
      func waitUntilReachable(_ origin: Origin, failures: Int, clock: CallClock) async throws {}
    }
    for reachability in [Always() as any Reachability, PollingReachability(longest: .zero)] {
      let shop = VirtualShop(
        configure: { configuration in
          configuration.waitsForConnectivity = true
          configuration.connectivityTimeout = .seconds(10)
          configuration.reachability = reachability
          configuration.retryPolicy = .never
        }, answer: { _, _, _ in throw Self.refused })
      let call = Task { try await shop.task().run() }
      for _ in 0..<10 { await shop.clock.pass(.seconds(1), sleepers: 2) }
      let error = try #require(await taskError { _ = try await call.value })
      #expect(error.reason.contains("connectivityTimeout") && error.elapsed == .seconds(10))
      #expect(shop.sentCount == 7, "requests are sent after 0, 1, 2, 3, 4, 6 and 10 s")
    }
  }

  @Test func `limits a polling delay to the remaining time`() async throws {
    let shop = shop(PollingReachability())
    let call = Task { try await shop.task().retry(.never).run() }
    await shop.clock.pass(.milliseconds(500), sleepers: 2)
    await shop.clock.pass(.milliseconds(500), sleepers: 2)
    let error = try #require(await taskError { _ = try await call.value })
    #expect(error.elapsed == .seconds(1) && shop.sentCount == 2)
  }

  @Test func `doubles the polling delay up to the maximum`() async throws {
    let origin = try #require(Origin(.known("https://shop.test")))
    for (failures, expected) in [(1, 0.5), (2, 1), (3, 2), (4, 3), (60, 3)] {
      let clock = ManualClock(.autoAdvancing)
      let start = clock.now
      let poll = PollingReachability(longest: .seconds(3))
      try await poll.waitUntilReachable(origin, failures: failures, clock: CallClock(clock))
      #expect(start.duration(to: clock.now) == .seconds(expected), "after \(failures)")
    }
  }

  @Test func `retries when the app's Reachability returns`() async throws {
    struct Minute: Reachability {
      func waitUntilReachable(_ origin: Origin, failures: Int, clock: CallClock) async throws {
        try await clock.sleep(for: .seconds(60))
      }
    }
    let shop = VirtualShop(
      configure: { configuration in
        configuration.waitsForConnectivity = true
        configuration.connectivityTimeout = .seconds(600)
        configuration.reachability = Minute()
      },
      answer: { number, request, _ in
        guard number == 2 else { throw Self.refused }
        return .ok(request)
      })
    let call = Task { try await shop.task().retry(.never).run() }
    await shop.clock.pass(.milliseconds(59_999), sleepers: 2)
    #expect(shop.sentCount == 1)
    shop.clock.advance(by: .milliseconds(1))
    #expect(try await call.value.status == .ok)
  }

  @Test func `does not retry if Reachability returns after the timeout`() async throws {
    struct Returning: Reachability {
      func waitUntilReachable(_ origin: Origin, failures: Int, clock: CallClock) async throws {
        try? await clock.sleep(for: .seconds(3600))
      }
    }
    let shop = shop(Returning())
    let call = Task { try await shop.task().retry(.never).run() }
    await shop.clock.pass(.seconds(1), sleepers: 2)
    #expect(await taskError { _ = try await call.value }?.code == .cannotConnect && shop.sentCount == 1)
  }

  @Test func `attempts without a network do not open the host's circuit`() async throws {
    struct Minute: Reachability {
      func waitUntilReachable(_ origin: Origin, failures: Int, clock: CallClock) async throws {
        try await clock.sleep(for: .seconds(60))
      }
    }
    let host = try #require(Origin(.known("https://shop.test")))
    for waits in [true, false] {
      let shop = VirtualShop(
        configure: { configuration in
          configuration.waitsForConnectivity = waits
          configuration.connectivityTimeout = .seconds(600)
          configuration.reachability = Minute()
          configuration.circuitBreaker = CircuitBreaker(window: .seconds(600), minimumCalls: 2)
          configuration.retryPolicy = .fixed(retries: 9, delay: .seconds(60))
        },
        answer: { number, request, _ in
          guard number > 5 else { throw Self.refused }
          return .ok(request)
        })
      let call = Task { try await shop.task().run() }
      for _ in 0..<(waits ? 5 : 1) { await shop.clock.pass(.seconds(60), sleepers: waits ? 2 : 1) }
      if waits {
        #expect(try await call.value.status == .ok)
      } else {
        await shop.clock.sleepers(count: 1)
        #expect(shop.manager.circuit(of: host) != .closed)
        call.cancel()
      }
    }
  }

  @Test func `does not hedge an attempt that waits for a network`() async throws {
    for delay in [Duration.seconds(1), .zero] {
      let shop = VirtualShop(
        configure: { configuration in
          configuration.waitsForConnectivity = true
          configuration.reachability = NeverReachable()
          configuration.connectivityTimeout = .seconds(10)
          configuration.retryPolicy = .never
        },
        answer: { _, _, _ in throw Self.refused })
      let call = Task { try await shop.task().hedged(after: delay, maximum: 2).run() }
      await shop.clock.sleepers(count: 2)
      await giveWay(20)  // a hedge may have started before the first attempt failed
      let sent = shop.sentCount
      for _ in 0..<5 { await shop.clock.pass(.seconds(1), sleepers: 2) }
      #expect(shop.sentCount == sent && (delay == .zero || sent == 1))
      await shop.clock.pass(.seconds(5), sleepers: 2)
      #expect(await taskError { _ = try await call.value }?.code == .cannotConnect)
      #expect(shop.clock.sleeperCount == 0)
    }
  }

  @Test func `concurrent waits count only once toward the connectivity timeout`() {
    let allowance = ConnectivityAllowance(.seconds(10))
    #expect(allowance.begin(at: .seconds(3)) == .seconds(10))
    #expect(allowance.begin(at: .seconds(4)) == .seconds(9))
    allowance.end(at: .seconds(6))
    allowance.end(at: .seconds(7))
    #expect(allowance.begin(at: .seconds(100)) == .seconds(6))
    allowance.end(at: .seconds(106))
    #expect(allowance.begin(at: .seconds(200)) == .zero)
  }

  @Test func `failures after the connectivity timeout open the host's circuit`() async throws {
    let shop = shop()
    await shop.server.update { $0.circuitBreaker = CircuitBreaker(window: .seconds(600), minimumCalls: 2) }
    let call = Task { try await shop.task().run() }
    await shop.clock.pass(.seconds(1), sleepers: 2)
    for count in 1...2 {
      #expect(await eventually { shop.moments(containing: "to retry").count >= count })
      await shop.clock.pass(.seconds(5), sleepers: 1)
    }
    #expect(await taskError { _ = try await call.value }?.code == .cannotConnect)
    #expect(shop.manager.circuit(of: try #require(Origin(.known("https://shop.test")))) != .closed)
  }
}
