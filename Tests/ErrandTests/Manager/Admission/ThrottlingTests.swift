import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct ThrottlingTests {
  /// How a call that holds the only slot can end.
  enum Stop: CaseIterable, Sendable {
    case success, badStatus, failure, cancelled, deadline, streamRead, streamDropped, file
  }

  @Test(arguments: Stop.allCases) func `releases the only slot regardless of how the call ends`(stop: Stop)
    async throws
  {
    let shop = VirtualShop(limits: ThrottleLimits(perHost: 1)) { number, request, clock in
      guard number == 1 else { return .ok(request) }
      switch stop {
      case .badStatus: return .status(.notFound, for: request)
      case .failure: throw TaskError(.badResponse, "no HTTP", phase: .awaitingResponse)
      case .cancelled, .deadline:
        try await CallClock(clock).sleep(for: .seconds(1000))
        return .ok(request)
      default: return .json("[1, 2, 3]", for: request)
      }
    }
    switch stop {
    case .success, .badStatus, .failure: _ = try? await shop.task().run()
    case .cancelled:
      let call = Task { try await shop.task().run() }
      await shop.clock.sleepers(count: 1)
      call.cancel()
      await #expect(throws: CancellationError.self) { try await call.value }
    case .deadline:
      let call = Task { try await shop.task().deadline(.seconds(3)).run() }
      await shop.clock.pass(.seconds(3), sleepers: 2)
      await #expect(throws: TaskError.self) { try await call.value }
    case .streamRead: for try await _ in try await shop.task().stream().body {}
    case .streamDropped: _ = try await shop.task().stream()
    case .file:
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("errand-\(UUID().uuidString)")
      try await shop.task().download(to: file)
      try FileManager.default.removeItem(at: file)
    }
    try await shop.task().run()
    #expect(shop.manager.throttle == ThrottleSnapshot(limits: shop.manager.limits, running: 0, waiting: 0, hosts: [:]))
    await shop.events.balanced()
  }

  @Test func `stream permits follow the waiting rules of slots but have no separate rate limit`() {
    let limits = ThrottleLimits(
      perHost: 7, total: 9, maximumWaiting: 5, priorityAging: .seconds(3), rate: RateLimit(1, per: .seconds(1)),
      streamsPerHost: 2)
    #expect(limits.ofStreams == ThrottleLimits(perHost: 2, maximumWaiting: 5, priorityAging: .seconds(3)))
  }

  @Test func `the rate limit includes streamed uploads`() async throws {
    let shop = VirtualShop(limits: ThrottleLimits(rate: RateLimit(1, per: .seconds(60)))) { _, request, _ in
      .ok(request)
    }
    let body = HTTPBody.stream { AsyncStream<Data> { $0.finish() } }
    let task = URLTask(.known("https://shop.test/upload"), method: .put, body: body).on(shop.server)
    try await task.run()
    let second = Task { try await task.run() }
    await shop.clock.pass(.milliseconds(59_999))
    await giveWay(20)
    #expect(shop.sentCount == 1)
    shop.clock.advance(by: .milliseconds(1))
    _ = try await second.value
    #expect(shop.sentCount == 2 && shop.manager.throttle.running == 0 && shop.manager.throttle.streams == 0)
  }

  @Test func `a call above the rate limit starts after the period`() async throws {
    let shop = VirtualShop(limits: ThrottleLimits(rate: RateLimit(1, per: .seconds(60)))) { _, request, _ in
      .ok(request)
    }
    try await shop.task().run()
    let second = Task { try await shop.task().run() }
    await shop.clock.pass(.milliseconds(59_999))
    await giveWay(20)
    #expect(shop.sentCount == 1)
    shop.clock.advance(by: .milliseconds(1))
    _ = try await second.value
    #expect(shop.sentCount == 2)
  }

  @Test(arguments: [ThrottleLimits.unlimited, ThrottleLimits(perHost: 0), ThrottleLimits(perHost: -1, total: -1)])
  func `without limits, all calls run concurrently`(limits: ThrottleLimits) async throws {
    let gate = Gate()
    let shop = VirtualShop(limits: limits) { _, request, _ in
      await gate.wait()
      return .ok(request)
    }
    let calls = (0..<40).map { _ in Task { try await shop.task().run() } }
    #expect(await eventually { shop.sentCount == 40 || shop.manager.waitingCount > 0 })
    #expect(shop.sentCount == 40 && shop.manager.throttle.running == 40)
    gate.open()
    for call in calls { _ = try await call.value }
  }

  @Test func `fails immediately with .queueFull if the queue is full`() async throws {
    let shop = VirtualShop(limits: ThrottleLimits(perHost: 1, maximumWaiting: 1)) { _, request, clock in
      try await CallClock(clock).sleep(for: .seconds(1))
      return .ok(request)
    }
    let first = Task { try await shop.task().run() }
    await shop.clock.sleepers(count: 1)
    let second = Task { try await shop.task().run() }
    #expect(await eventually { shop.manager.throttle.waiting == 1 })
    let host = try #require(URL(string: "https://shop.test").flatMap { Origin($0) })
    #expect(shop.manager.throttle.hosts == [host: ThrottleSnapshot.Host(running: 1, waiting: 1)])
    let error = try #require(await taskError { try await shop.task().run() })
    #expect(error.code == .queueFull && error.wasNotSent && error.attempts.count == 1)
    #expect(error.reason == "the queue is full: 1 attempts are waiting (ThrottleLimits.maximumWaiting)")
    shop.clock.advance(by: .seconds(1))
    _ = try await first.value
    await shop.clock.pass(.seconds(1))
    _ = try await second.value
  }

  @Test func `the queue timeout ends the wait without a retry`() async throws {
    let shop = VirtualShop(limits: ThrottleLimits(perHost: 1)) { _, request, clock in
      try await CallClock(clock).sleep(for: .seconds(100))
      return .ok(request)
    }
    let first = Task { try await shop.task().run() }
    await shop.clock.sleepers(count: 1)
    let second = Task { try await shop.task().timeouts(Timeouts(queue: .seconds(2))).run() }
    await shop.clock.pass(.seconds(2), sleepers: 2)
    let error = try #require(await taskError { _ = try await second.value })
    #expect(error.timer == .queue && error.attempts.count == 1 && error.elapsed == .seconds(2))
    #expect(shop.manager.waitingCount == 0)
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
  }

  @Test func `calls above the rate limit wait`() async throws {
    let limits = ThrottleLimits(rate: RateLimit(2, per: .seconds(1), burst: 1))
    let shop = VirtualShop(limits: limits) { _, request, _ in .ok(request) }
    try await shop.task().run()
    let second = Task { try await shop.task().run() }
    await shop.clock.pass(.milliseconds(499))
    #expect(shop.sentCount == 1 && shop.manager.waitingCount == 1)
    shop.clock.advance(by: .milliseconds(1))
    _ = try await second.value
    #expect(shop.sentCount == 2 && shop.manager.waitingCount == 0)
  }

  @Test func `the deadline ends a wait for the rate limit`() async throws {
    let shop = VirtualShop(limits: ThrottleLimits(rate: RateLimit(1, per: .seconds(60)))) { _, request, _ in
      .ok(request)
    }
    try await shop.task().run()
    let second = Task { try await shop.task().deadline(.seconds(5)).run() }
    await shop.clock.pass(.seconds(5), sleepers: 2)
    #expect(await taskError { _ = try await second.value }?.timer == .call)
    #expect(shop.sentCount == 1 && shop.manager.waitingCount == 0)
  }

  @Test func `raised and lowered limits take effect immediately`() async throws {
    let shop = VirtualShop(limits: ThrottleLimits(perHost: 1)) { _, request, clock in
      try await CallClock(clock).sleep(for: .seconds(1))
      return .ok(request)
    }
    let calls = (0..<6).map { _ in Task { try await shop.task().run() } }
    #expect(await eventually { shop.manager.waitingCount >= 5 })
    await shop.manager.setLimits(ThrottleLimits(perHost: 3))
    await shop.clock.sleepers(count: 3)
    #expect(shop.manager.runningCount == 3 && shop.manager.waitingCount == 3)
    await shop.manager.setLimits(ThrottleLimits(perHost: 1))
    shop.clock.advance(by: .seconds(1))
    for _ in 0..<3 { await shop.clock.pass(.seconds(1)) }
    for call in calls { _ = try await call.value }
    #expect(
      shop.clock.now.offset == .seconds(4), "the three running calls end together, and the others run one at a time")
  }

  @Test(arguments: [ThrottleLimits(perHost: -1), ThrottleLimits(total: -3), ThrottleLimits(maximumWaiting: -1)])
  func `a negative limit means no limit`(limits: ThrottleLimits) async throws {
    let shop = VirtualShop(limits: limits) { _, request, _ in .ok(request) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<20 { group.addTask { try await shop.task().deadline(.seconds(60)).run() } }
      try await group.waitForAll()
    }
    var changed = ThrottleLimits()
    (changed.perHost, changed.total, changed.maximumWaiting, changed.streamsPerHost) = (-1, -1, -1, -1)
    #expect(changed == ThrottleLimits(perHost: 0, total: 0, maximumWaiting: 0, streamsPerHost: 0))
    #expect(ThrottleLimits(streamsPerHost: -1).streamsPerHost == 0)
  }

  @Test func `invalid rates neither block calls nor trap`() async throws {
    var changed = RateLimit(5, per: .seconds(1))
    (changed.count, changed.burst) = (-5, 0)
    var slow = RateLimit(5, per: .seconds(1))
    (slow.period, slow.burst) = (.seconds(-1), -1)
    var single = RateLimit(1, per: .seconds(1))
    single.burst = 0
    let rates = [
      changed, slow, single, RateLimit(-1, per: .seconds(1)), RateLimit(1, per: .unlimited, burst: .max),
      RateLimit(.max, per: .nanoseconds(1), burst: .min),
    ]
    for rate in rates {
      let shop = VirtualShop(limits: ThrottleLimits(rate: rate)) { _, request, _ in .ok(request) }
      _ = try await shop.task().deadline(.seconds(60)).run()
      #expect(shop.sentCount == 1, "\(rate)")
    }
  }
}
