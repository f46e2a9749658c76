import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct CircuitBreakerTests {
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

  @Test func `a failing host receives ten requests, then one probe every 30 seconds`() async throws {
    let shop = make { _, request, _ in .unavailable(request) }
    for second in 0..<300 {
      let error = await taskError { try await shop.task().run() }
      #expect(error?.code == (shop.sentCount <= 10 && second < 10 || second % 30 == 9 ? .badStatus : .circuitOpen))
      shop.clock.advance(by: .seconds(1))
    }
    #expect(shop.sentCount == 10 + 9)
    #expect(shop.events.isBalanced)
  }

  @Test func `does not count a failure of the call that provides the request body`() async throws {
    let source = StubServer(.refused) { $0.retryPolicy = .never }
    let shop = make { _, request, _ in
      try await request.body.forEachChunk { _ in }
      return .ok(request)
    }
    for _ in 0..<12 {
      let body = HTTPBody.stream {
        AsyncThrowingStream { try await source.server.stream(PlainTask()).body.next() }
      }
      let error = await taskError { try await shop.server.send(.put("copy", body: body)) }
      #expect(error?.code == .cannotConnect)
    }
    #expect(shop.manager.circuit(of: host) == .closed)
    try await shop.task().run()
  }

  @Test func `the error says how long the circuit stays open`() async throws {
    let shop = make { _, request, _ in .unavailable(request) }
    for _ in 0..<10 { _ = try? await shop.task().run() }
    shop.clock.advance(by: .seconds(12))
    let error = try #require(await taskError { try await shop.task(method: .post).run() })
    #expect(error.code == .circuitOpen && error.wasNotSent && !error.isRetryable)
    #expect(
      error.reason
        == "the circuit breaker of https://shop.test:443 is open: no requests are sent to the host for another 18.000 s"
    )
    #expect(shop.manager.circuit(of: host) == .open(for: .seconds(18)))
  }

  @Test func `a successful probe closes the circuit`() async throws {
    let shop = make { number, request, _ in number <= 10 ? .unavailable(request) : .ok(request) }
    for _ in 0..<10 { _ = try? await shop.task().run() }
    shop.clock.advance(by: .seconds(30))
    for _ in 0..<5 { try await shop.task().run() }
    #expect(shop.manager.circuit(of: host) == .closed)
  }

  @Test func `other calls fail immediately while a probe is running`() async throws {
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

  @Test func `a cancelled probe allows another probe`() async throws {
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

  @Test func `statuses below 500 and local failures keep the circuit closed`() async throws {
    let shop = make { number, request, _ in
      if number % 2 == 0 { return .status(.notFound, for: request) }
      throw TaskError(.offline, "no network", phase: .connecting)
    }
    for _ in 0..<50 { _ = try? await shop.task().run() }
    #expect(shop.sentCount == 50 && shop.manager.circuit(of: host) == .closed)
  }

  @Test func `an expired deadline counts against a slow host, but not if the call waited for a slot`() async throws {
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

  /// A body that yields one chunk and then, once its gate opens, throws an attempt timeout.
  private final class Stuck: HTTPBodySource {
    let (reached, gate) = (Gate(), Gate())
    private let hasBegun = Shared(false)

    func next() async throws -> Data? {
      let isFirst = hasBegun.withLock { hasBegun in
        defer { hasBegun = true }
        return !hasBegun
      }
      if isFirst { return Data("x".utf8) }
      reached.open()
      await gate.wait()
      throw TaskError.timeout(.attempt, after: .seconds(30), phase: .receiving)
    }
  }

  @Test(arguments: [true, false]) func `a timeout while a call is paused does not count against the host`(
    isPaused: Bool
  ) async throws {
    let body = Stuck()
    let shop = make(CircuitBreaker(minimumCalls: 1)) { _, request, _ in
      HTTPResponse(url: request.url, body: HTTPResponseBody(body))
    }
    let handle = shop.manager.start(shop.task())
    await body.reached.wait()
    if isPaused {
      handle.pause()
      handle.resume()
    }
    body.gate.open()
    await #expect(throws: TaskError.self) { try await handle.value }
    #expect(shop.manager.circuit(of: host) == (isPaused ? .closed : .open(for: .seconds(30))))
  }

  @Test(arguments: [true, false])
  func `a timeout while the upload's source is idle does not count against the host`(
    isOfSource: Bool
  ) async throws {
    let shop = make(CircuitBreaker(minimumCalls: 1)) { _, _, _ in
      var error = TaskError.timeout(.idle, after: .seconds(30), phase: .sending)
      error.awaitedSource = isOfSource
      throw error
    }
    #expect(await taskError { try await shop.task(method: .put).run() }?.timer == .idle)
    #expect(shop.manager.circuit(of: host) == (isOfSource ? .closed : .open(for: .seconds(30))))
  }

  @Test(arguments: [(10, true), (29, false)], [true, false])
  func `a timeout counts against a redirect target only if the target used most of the time`(
    _ first: (spent: Int, isToBlame: Bool), isAmidBody: Bool
  ) async throws {
    let shop = make(CircuitBreaker(minimumCalls: 1)) { number, request, clock in
      if number == 1 {
        clock.advance(by: .seconds(first.spent))
        return .status(302, headers: ["Location": "https://other.test/"], for: request)
      }
      let error = TaskError.timeout(
        .attempt, after: request.options.timeouts.attempt ?? .zero, phase: .awaitingResponse)
      guard isAmidBody else { throw error }
      return HTTPResponse(url: request.url, body: HTTPResponseBody(Failing(error)))
    }
    let error = await taskError { try await shop.task().timeout(.seconds(30)).run() }
    #expect(error?.timer == .attempt && shop.sentCount == 2)
    let other = try #require(Origin(.known("https://other.test")))
    #expect(shop.manager.circuit(of: other) == (first.isToBlame ? .open(for: .seconds(30)) : .closed))
    #expect(shop.manager.circuit(of: host) == .closed)
  }

  /// A body that fails immediately.
  private final class Failing: HTTPBodySource {
    private let error: TaskError

    init(_ error: TaskError) { self.error = error }

    func next() async throws -> Data? { throw error }
  }

  @Test func `forgets unused hosts`() throws {
    let (clock, settings) = (ManualClock(), CircuitBreaker(minimumCalls: 1))
    let coordinator = CircuitRegistry(clock: CallClock(clock))
    for number in 0..<2000 {
      let host = try #require(Origin(.known("https://h\(number).test")))
      try coordinator.permit(for: host, settings).end(.failure)
      clock.advance(by: .seconds(31))
      try coordinator.permit(for: host, settings).end(.unknown)  // the probe was cancelled
    }
    clock.advance(by: .seconds(24 * 3600))
    for number in 0..<2000 {
      let host = try #require(Origin(.known("https://g\(number).test")))
      try coordinator.permit(for: host, settings).end(.success)
      clock.advance(by: .seconds(31))
    }
    #expect(coordinator.hostCount < 2000)
  }

  @Test(arguments: [HTTPStatus.serviceUnavailable, .ok])
  func `a streamed probe counts when its response head arrives`(status: HTTPStatus) async throws {
    let shop = make { number, request, _ in number <= 10 ? .unavailable(request) : .status(status, for: request) }
    for _ in 0..<10 { _ = try? await shop.task().run() }
    shop.clock.advance(by: .seconds(30))
    let response = try await shop.task().accepting(.any).stream()
    #expect(shop.manager.circuit(of: host) == (status == .ok ? .closed : .open(for: .seconds(30))))
    #expect(response.status == status)
  }
}
