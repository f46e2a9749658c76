import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Concurrent calls for the same resource share one request.
@Suite(.timeLimit(.minutes(1))) struct CoalescingTests {
  private let gate = Gate()

  private func shop(
    _ headers: HTTPHeaders = [:], cache: Bool = false, status: HTTPStatus = .ok, isOn: Bool = true
  ) -> CachedShop {
    CachedShop(
      configure: {
        $0.coalescesRequests = isOn
        if !cache { $0.cache = nil }
      },
      answer: { [gate] number, request in
        await gate.wait()
        try Task.checkCancellation()
        return .text("\(number)", headers, status: status, for: request)
      })
  }

  /// Starts calls and returns when every call has joined a request.
  private func start(_ count: Int, _ shop: CachedShop, _ task: Modified<CachedTask>? = nil) async -> [Task<
    String, any Error
  >] {
    let before = shop.events.moments().count { $0.hasPrefix("joined") }
    let calls = (0..<count).map { _ in Task { try await (task ?? shop.task()).download() } }
    #expect(await eventually { shop.events.moments().count { $0.hasPrefix("joined") } == before + count })
    return calls
  }

  @Test func `identical concurrent calls share one request, and each receives its own body`() async throws {
    let shop = shop()
    let calls = await start(20, shop)
    #expect(await eventually { shop.sentCount == 1 })
    gate.open()
    for call in calls { #expect(try await call.value == "1") }
    #expect(try await shop.task().download() == "2", "a later call sends its own request")
    #expect(await eventually { shop.events.isBalanced && shop.server.manager.callCount == 0 })
    #expect(shop.server.manager.runningCount == 0)
  }

  @Test func `a call that shares a failed request receives its error, which names the nested call once`()
    async throws
  {
    gate.open()
    let failing = CachedShop(configure: { ($0.coalescesRequests, $0.cache) = (true, nil) }) { _, _ in
      throw TaskError(.connectionLost, "it broke", phase: .receiving)
    }
    let own = try #require(await taskError { _ = try await failing.task().download() })
    #expect(own.reason == "it broke" && !own.isFromAnotherCall)
    let other = shop()
    await other.server.update { $0.authentication = .bearer { try await failing.task().download() } }
    let nested = try #require(await taskError { _ = try await other.task().download() })
    #expect(
      nested.reason.components(separatedBy: "which this call depends on").count == 2 && nested.isFromAnotherCall,
      "\(nested.reason)")
  }

  @Test func `the errors and responses of a shared request contain the record of that request`() async throws {
    gate.open()
    let failing = shop(status: .serviceUnavailable)
    await failing.server.update { $0.retryPolicy = .fixed(retries: 2, delay: .zero) }
    let error = try #require(await taskError { _ = try await failing.task().download() })
    #expect(error.attempts.map(\.status) == [503, 503, 503] && error.metrics.attemptCount == 3)
    #expect("\(error)".contains("after 3 attempts"), "\(error)")
    let moments = error.record.entries.map { "\($0.moment)" }
    #expect(moments.first == "call started" && moments.count { $0 == "call started" } == 1, "\(moments)")
    let times = error.record.entries.map(\.time)
    #expect(times == times.sorted())
    let refused = shop(status: .serviceUnavailable)
    await refused.server.update { $0.retryPolicy = RetryPolicy.decided { _ in .giveUp } }
    let response = try await shop().task().response()
    #expect(response.record.attempts.map(\.status) == [200])
  }

  @Test func `does not share requests that differ, or if coalescing is off`()
    async throws
  {
    gate.open()
    let shop = shop()
    async let a = shop.task("a").download()
    async let b = shop.task("b").download()
    async let c = shop.task("a").header("X", "1").download()
    async let d = CachedTask(path: "a", httpMethod: .post).on(shop.server).download()
    async let e = CachedTask(path: "a", httpMethod: .post).on(shop.server).download()
    _ = try await [a, b, c, d, e]
    #expect(shop.sentCount == 5)
    let other = self.shop(isOn: false)
    async let f = other.task().download()
    async let g = other.task().download()
    _ = try await [f, g]
    #expect(other.sentCount == 2)
  }

  @Test func `cancelling one call does not cancel the request for the others`() async throws {
    let shop = shop()
    let calls = await start(3, shop)
    calls[0].cancel()
    await #expect(throws: CancellationError.self) { try await calls[0].value }
    gate.open()
    for call in calls[1...] { #expect(try await call.value == "1") }
    #expect(shop.sentCount == 1)
  }

  @Test func `cancelling the last call ends the request`() async throws {
    let ended = Shared(false)
    let shop = CachedShop(
      configure: { $0.coalescesRequests = true },
      answer: { _, request in
        do {
          try await CallClock(ManualClock()).sleep(for: .seconds(1))  // forever
        } catch {
          ended.withLock { $0 = true }
          throw error
        }
        return .ok(request)
      })
    let calls = await start(3, shop)
    #expect(await eventually { shop.sentCount == 1 })
    calls[0].cancel()
    calls[1].cancel()
    for call in calls[..<2] { await #expect(throws: CancellationError.self) { try await call.value } }
    #expect(!ended.withLock { $0 })
    calls[2].cancel()
    await #expect(throws: CancellationError.self) { try await calls[2].value }
    #expect(await eventually { ended.withLock { $0 } && shop.server.manager.callCount == 0 && shop.events.isBalanced })
  }

  @Test func `cancelling by tag does not cancel the shared request of other calls`() async throws {
    let shop = shop()
    let tagged = await start(1, shop, shop.task().tagged("screen"))
    let others = await start(1, shop)
    await shop.server.manager.cancel(tag: "screen")
    await #expect(throws: CancellationError.self) { try await tagged[0].value }
    gate.open()
    #expect(try await others[0].value == "1")
  }

  @Test func `wasNotSent is false for every call that shares a sent request`() async throws {
    let shop = shop(status: 500)
    let calls = await start(3, shop)
    gate.open()
    for call in calls {
      let error = try #require(await taskError { _ = try await call.value })
      #expect(error.status == 500 && !error.wasNotSent && error.record.description.contains("joined call"))
    }
  }

  @Test func `the deadline of one call does not affect other calls that share its request`() async throws {
    let shop = shop()
    let hurried = Task { try await shop.task().deadline(.seconds(1)).download() }
    #expect(await eventually { shop.events.moments().contains { $0.hasPrefix("joined") } })
    let calls = await start(1, shop)
    await shop.clock.sleepers(count: 1)
    shop.clock.advance(by: .seconds(1))
    #expect(await taskError { _ = try await hurried.value }?.timer == .call)
    gate.open()
    #expect(try await calls[0].value == "1")
  }

  @Test func `a shared request is not retried if all deadlines would expire before the retry`() async throws {
    gate.open()
    let shop = shop([.retryAfter: "30"], status: .serviceUnavailable)
    await shop.server.update { $0.retryPolicy = .standard }
    let error = await taskError { _ = try await shop.task().deadline(.seconds(3)).download() }
    #expect(error?.status == 503 && error?.elapsed == .zero && shop.sentCount == 1, "\(String(describing: error))")
    #expect("\(try #require(error))".contains("the call's deadline would expire during the retry delay of 30.000 s"))
  }

  @Test func `a shared request is retried if one call's deadline expires after the retry delay`() async throws {
    let shop = CachedShop(
      configure: {
        $0.coalescesRequests = true
        $0.cache = nil
        $0.retryPolicy = .standard
      },
      answer: { [gate] number, request in
        await gate.wait()
        return .text("\(number)", [.retryAfter: "5"], status: number == 1 ? .serviceUnavailable : .ok, for: request)
      })
    let hurried = await start(1, shop, shop.task().deadline(.seconds(3)))
    let patient = await start(1, shop, shop.task().deadline(.seconds(100)))
    gate.open()
    #expect(await eventually { shop.clock.sleeperCount == 3 }, "the sleepers are two deadlines and the retry delay")
    shop.clock.advance(by: .seconds(3))
    #expect(await taskError { _ = try await hurried[0].value }?.timer == .call)
    shop.clock.advance(by: .seconds(10))
    #expect(try await patient[0].value == "2")
  }

  @Test func `with a cache, calls that join a request are marked as collapsed`() async throws {
    let shop = shop([.cacheControl: "max-age=60"], cache: true)
    let calls = (0..<3).map { _ in Task { try await shop.get() } }
    #expect(await eventually { shop.events.moments().count { $0.hasPrefix("joined") } == 3 })
    gate.open()
    var statuses: [String] = []
    for call in calls { statuses.append(try await call.value.status) }
    // `Cache-Status` is written once, from the typed status.
    #expect(
      statuses.sorted() == ["errand; fwd=uri-miss; stored"]
        + Array(repeating: "errand; fwd=uri-miss; stored; collapsed", count: 2))
  }

  private enum Tenant: TaskContextKey { static let defaultValue = "none" }

  @Test func `does not coalesce calls with a custom context, because steps can use the context`() async throws {
    let shop = shop()
    let calls = ["a", "b"].map { name in Task { try await shop.task().context(Tenant.self, name).download() } }
    #expect(await eventually { shop.sentCount == 2 })
    gate.open()
    var values = Set<String>()
    for call in calls { values.insert(try await call.value) }
    #expect(values == ["1", "2"])
  }

  @Test func `does not coalesce calls with different serial queues`() async throws {
    let shop = shop()
    let task = shop.task()
    let calls = [task, task.serialQueue(.named("q"))].map { task in Task { try await task.download() } }
    #expect(await eventually { shop.sentCount == 2 })
    gate.open()
    var values = Set<String>()
    for call in calls { values.insert(try await call.value) }
    #expect(values == ["1", "2"])
  }

  private enum Session { @TaskLocal static var user = "nobody" }

  /// Adds the credentials of the user on whose behalf the call is made.
  private struct OnBehalf: PerCallStep, PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      var request = request
      request.headers[.authorization] = "Bearer \(Session.user)"
      return try await next(request)
    }
  }

  @Test(arguments: [true, false]) func `does not share responses between users if a step adds the credentials`(
    perAttempt: Bool
  ) async throws {
    let shop = CachedShop(
      configure: {
        ($0.coalescesRequests, $0.cache) = (true, nil)
        if perAttempt { $0.perAttemptSteps = [OnBehalf()] } else { $0.perCallSteps = [OnBehalf()] }
      },
      answer: { [gate] _, request in
        await gate.wait()
        return .text(request.headers[.authorization] ?? "none", for: request)
      })
    let calls = ["ann", "bob"].map { user in
      Session.$user.withValue(user) { Task { try await shop.task().download() } }
    }
    #expect(await eventually { shop.sentCount == 2 })
    gate.open()
    #expect(try await calls[0].value == "Bearer ann")
    #expect(try await calls[1].value == "Bearer bob")
  }

  @Test func `does not coalesce a call that has a preloaded fallback`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("bundled")
      try Data("bundled".utf8).write(to: file)
      let shop = shop(status: 503)
      let preloaded = Task { try await shop.task().preloaded(from: file).download() }
      let other = Task { await taskError { _ = try await shop.task().download() } }
      #expect(await eventually { shop.sentCount == 2 })
      gate.open()
      #expect(try await preloaded.value == "bundled")
      #expect(await other.value?.status == 503)
    }
  }

  @Test func `does not coalesce calls with different retry or hedging rules`() async throws {
    let shop = shop()
    let tasks = [shop.task(), shop.task().idempotency(.neverRepeat), shop.task().hedged(after: .seconds(9))]
    let calls = tasks.flatMap { task in (0..<2).map { _ in Task { try await task.download() } } }
    #expect(await eventually { shop.events.moments().count { $0.hasPrefix("joined") } == 6 })
    #expect(await eventually { shop.sentCount == 3 })
    gate.open()
    var values = Set<String>()
    for call in calls { values.insert(try await call.value) }
    #expect(values == ["1", "2", "3"])
  }

  @Test func `cancelAll counts the calls, not the request they share`() async throws {
    let shop = shop()
    let calls = await start(2, shop)
    #expect(await shop.server.manager.cancelAll() == 2)
    for call in calls { await #expect(throws: CancellationError.self) { try await call.value } }
    gate.open()
  }
}
