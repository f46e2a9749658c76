import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Internal calls: shared requests and background revalidation.
@Suite(.timeLimit(.minutes(1))) struct OwnCallsTests {
  private struct Stamp: PerCallStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      var request = request
      request.headers["X-Stamp"] = "1"
      return try await next(request)
    }
  }

  @Test(arguments: [true, false]) func `a retry keeps changes made by per-call steps`(isShared: Bool) async throws {
    let shop = CachedShop(
      configure: {
        $0.cache = nil
        $0.coalescesRequests = isShared
        $0.perCallSteps = [Stamp()]
        $0.retryPolicy = .fixed(retries: 1, delay: .zero)
      },
      answer: { number, request in
        number == 1 ? .status(503, for: request) : .text("widget", [:], for: request)
      })
    #expect(try await shop.task().download() == "widget")
    #expect(shop.requests.map { $0.headers["X-Stamp"] } == ["1", "1"])
  }

  /// A task that counts its hook calls.
  private struct Counting: ServerTask, PayloadDownloadingTask {
    typealias DownloadPayload = String
    let path = "widgets/7"
    let heard: Counter

    func willStart() async { heard.add() }
    func didStart(_ request: HTTPRequest) async { heard.add() }
    func didFail(with error: any Error) async { heard.add() }
    func didComplete(with response: HTTPResponse) async { heard.add() }
    func postProcess(response: HTTPResponse) async throws { heard.add() }
    func postflight(response: HTTPResponse) async throws { heard.add() }
  }

  @Test
  func `a revalidation runs the server's hooks but not the task's hooks`()
    async throws
  {
    let seen = Shared<[String]>([])
    let shop = CachedShop(
      configure: { configuration in
        configuration.preflight = { task, _ in seen.withLock { $0.append("\(type(of: task))") } }
        configuration.computedHeaders = { task in task is Counting ? ["X-For": "counting"] : [:] }
      },
      answer: { number, request in
        .text("\(number)", [.cacheControl: "max-age=1, stale-while-revalidate=600"], for: request)
      })
    let heard = Counter()
    let task = Counting(heard: heard).on(shop.server)
    #expect(try await task.download() == "1")
    let count = heard.count
    shop.clock.advance(by: .seconds(10))
    #expect(try await task.download() == "1")
    #expect(await eventually { shop.sentCount == 2 && shop.server.manager.callCount == 0 })
    #expect(seen.withLock { $0.allSatisfy { $0 == "Counting" } && $0.count == 3 }, "\(seen.withLock { $0 })")
    #expect(shop.requests.map { $0.headers["X-For"] } == ["counting", "counting"])
    #expect(heard.count == 2 * count, "the task's hooks do not run for the revalidation")
    #expect(Set(shop.events.events.map(\.task)) == ["Counting"])
    #expect(shop.server.manager.statistics.tasks.values.map(\.task) == ["Counting"])
  }

  @Test func `cancelAll does not resend shared requests`() async throws {
    let shop = CachedShop(
      configure: { ($0.cache, $0.coalescesRequests) = (nil, true) },
      answer: { _, _ in
        try await Task.sleep(for: .seconds(50))
        throw CancellationError()
      })
    for round in 1...20 {
      let calls = (0..<10).map { number in Task { try await shop.task("\(round)/\(number)").download() } }
      #expect(await eventually { shop.sentCount == 10 * round })
      #expect(await shop.server.manager.cancelAll() == 10)
      for call in calls { await #expect(throws: CancellationError.self) { try await call.value } }
      #expect(await eventually { shop.server.manager.callCount == 0 })
      #expect(shop.sentCount == 10 * round)
    }
  }

  @Test func `a CancellationError from the transport ends a shared request once`() async throws {
    let shop = CachedShop(
      configure: { $0.coalescesRequests = true },
      answer: { _, _ in throw CancellationError() })
    await #expect(throws: CancellationError.self) { try await shop.task().download() }
    #expect(shop.events.moments().count { $0.hasPrefix("joined") } == 1)
  }

  /// Starts three calls that share a request and answers the request when all calls have joined.
  private func threeCalls(
    _ answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse
  ) async throws -> (shop: CachedShop, calls: [Task<String, any Error>]) {
    let gate = Gate()
    let shop = CachedShop(
      configure: {
        $0.cache = nil
        $0.coalescesRequests = true
      },
      answer: { _, request in
        await gate.wait()
        return answer(request)
      })
    let calls = (0..<3).map { _ in Task { try await shop.task().download() } }
    try #require(await eventually { shop.events.moments().count { $0.hasPrefix("joined") } == 3 })
    gate.open()
    return (shop, calls)
  }

  @Test func `statistics count every call that shares a request but count the bytes once`() async throws {
    let (shop, calls) = try await threeCalls { .text("0123456789", for: $0) }
    for call in calls { _ = try await call.value }
    #expect(await eventually { shop.server.manager.callCount == 0 })
    let statistics = shop.server.manager.statistics.tasks.values
    #expect(statistics.map(\.count) == [3] && statistics.map(\.bytesReceived) == [10], "\(Array(statistics))")
  }

  @Test func `the event for the end of a shared request is marked as internal`() async throws {
    let (shop, calls) = try await threeCalls { .status(404, for: $0) }
    for call in calls { _ = try? await call.value }
    await shop.events.balanced()
    let ends = shop.events.events.filter { $0.record != nil }
    #expect(ends.map(\.isInternal).filter { $0 }.count == 1 && ends.count == 4)
    #expect(ends.allSatisfy { $0.record?.attempts.count == ($0.isInternal ? 1 : 0) })
  }

  @Test func `calls with different pins or priorities do not share a request`() async throws {
    let (gate, isPinned) = (Gate(), Shared(false))
    let shop = CachedShop(
      configure: {
        $0.coalescesRequests = true
        $0.preflight = { _, request in
          guard isPinned.withLock({ $0 }) else { return }
          request.options.pins = ["shop.test": ["sha256/\(Data(repeating: 1, count: 32).base64EncodedString())"]]
        }
      },
      answer: { number, request in
        await gate.wait()
        return .text("\(number)", [.cacheControl: "max-age=60"], for: request)
      })
    let plain = Task { try await shop.task().download() }
    #expect(await eventually { shop.sentCount == 1 })
    isPinned.withLock { $0 = true }
    let pinned = Task { try await shop.task().download() }
    #expect(await eventually { shop.sentCount == 2 })
    isPinned.withLock { $0 = false }
    let urgent = Task { try await shop.task().priority(.urgent).download() }
    #expect(await eventually { shop.sentCount == 3 })
    gate.open()
    _ = try await (plain.value, pinned.value, urgent.value)
    isPinned.withLock { $0 = true }
    _ = try await shop.task().download()
    #expect(shop.sentCount == 4, "the cached response came from a connection that was not checked against the pins")
    isPinned.withLock { $0 = false }
    _ = try await shop.task().download()
    #expect(shop.sentCount == 4)
  }

  @Test(arguments: ["refresh", "networkFirst"])
  func `a call throws .reentrantQueue if it waits for internal work on its own queue`(way: String) async throws {
    let tokens = QueueingTokens()
    let shop = CachedShop(
      configure: {
        if way == "refresh" { $0.authentication = .custom(tokens) }
        if way == "networkFirst" { $0.perAttemptSteps = [Queueing(tokens: tokens)] } else { $0.cache = nil }
      },
      answer: { number, request in .text("\(number)", [.cacheControl: "max-age=0"], for: request) })
    let task = shop.task("widgets/7", way == "networkFirst" ? .networkFirst(limit: .seconds(5)) : .inherited)
    if way == "networkFirst" { _ = try await task.download() }
    tokens.inner.withLock { $0 = { _ = try await PlainTask().on(shop.server).serialQueue(.named("api")).run() } }
    let error = await taskError { _ = try await task.serialQueue(.named("api")).download() }
    #expect(error?.code == .reentrantQueue, "\(way): \(error.debugDescription)")
  }
}

/// Makes a call during a refresh or an attempt.
private final class QueueingTokens: Authenticator {
  let inner = Shared<(@Sendable () async throws -> Void)?>(nil)

  func runInner() async throws {
    let run = inner.withLock { inner in
      defer { inner = nil }
      return inner
    }
    try await run?()
  }

  func storedToken() async throws -> Int? { nil }
  func freshness(of token: Int, at now: Date) -> TokenFreshness { .good }
  func apply(_ token: Int, to request: inout HTTPRequest) throws {}
  func forget() async throws {}

  func refresh(_ token: Int?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> Int? {
    try await runInner()
    return 1
  }
}

private struct Queueing: PerAttemptStep {
  let tokens: QueueingTokens

  func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
    try await tokens.runInner()
    return try await next(request)
  }
}
