import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct HedgingTests {
  private let host: Origin

  init() throws { host = try #require(URL(string: "https://shop.test").flatMap { Origin($0) }) }

  /// Creates a shop whose first responses take the given times. Later responses are immediate.
  private func make(
    slow: [Duration], limits: ThrottleLimits = ThrottleLimits(), budget: RetryBudget = .standard,
    configure: (inout ServerConfiguration) -> Void = { _ in },
    status: @escaping @Sendable (Int) -> HTTPStatus = { _ in .ok }
  ) -> VirtualShop {
    VirtualShop(limits: limits, budget: budget, configure: configure) { number, request, clock in
      if number <= slow.count { try await CallClock(clock).sleep(for: slow[number - 1]) }
      return .status(status(number), headers: ["X-Number": "\(number)"], for: request)
    }
  }

  @Test(arguments: [true, false]) func `sends a hedge after the delay set by the task or the server`(
    isOfTask: Bool
  ) async throws {
    let shop = make(slow: [.seconds(100)]) { if !isOfTask { $0.hedging = .after(.seconds(3)) } }
    let task = isOfTask ? shop.task().hedged(after: .seconds(3)) : shop.task()
    let call = Task { try await task.run() }
    await shop.clock.pass(.milliseconds(2999), sleepers: 2)
    await giveWay(20)
    #expect(shop.sentCount == 1)
    shop.clock.advance(by: .milliseconds(1))
    #expect(try await call.value.headers["X-Number"] == "2")
  }

  @Test func `uses the response of a faster hedge and releases the slow attempt's slot`() async throws {
    let shop = make(slow: [.seconds(100)])
    let call = Task { try await shop.task().hedged(after: .seconds(1)).run() }
    await shop.clock.pass(.seconds(1), sleepers: 2)
    let response = try await call.value
    #expect(response.headers["X-Number"] == "2")
    #expect(shop.manager.runningCount == 0 && shop.sentCount == 2 && shop.clock.sleeperCount == 0)
    #expect(shop.manager.retriesLeft(for: host) == 9)
    #expect(shop.moments(containing: "starting attempt 2 concurrently").count == 1)
    #expect(shop.moments(containing: "attempt 1 ended: cancelled").count == 1)
    #expect(shop.events.isBalanced)
  }

  @Test func `does not send a hedge or charge the retry budget if the host has no free slot`() async throws {
    let shop = make(slow: [.milliseconds(1900)], limits: ThrottleLimits(perHost: 1))
    let call = Task { try await shop.task().hedged(after: .seconds(1)).run() }
    await shop.clock.pass(.seconds(1), sleepers: 2)
    await giveWay(500)  // a hedge that is due later would take the slot that the response releases
    #expect(shop.sentCount == 1 && shop.manager.waitingCount == 0)
    await shop.clock.pass(.milliseconds(900))
    #expect(try await call.value.headers["X-Number"] == "1")
    #expect(shop.sentCount == 1 && shop.manager.retriesLeft(for: host) == 10)
    #expect(shop.moments(containing: "starting attempt 2").isEmpty && shop.events.isBalanced)
  }

  @Test func `a response to the first attempt cancels the hedge`() async throws {
    let shop = make(slow: [.seconds(3), .seconds(100)])
    let call = Task { try await shop.task().hedged(after: .seconds(1)).run() }
    await shop.clock.pass(.seconds(1), sleepers: 2)
    await shop.clock.pass(.seconds(2), sleepers: 3)
    #expect(try await call.value.headers["X-Number"] == "1")
    #expect(shop.manager.runningCount == 0 && shop.events.isBalanced)
  }

  /// A body part that arrives when its gate opens.
  private final class LatePart: HTTPBodySource {
    let gate: Gate
    let left: Shared<Data?>

    init(_ text: String, _ gate: Gate) { (self.gate, left) = (gate, Shared(Data(text.utf8))) }

    func next() async throws -> Data? {
      await gate.wait()
      return left.withLock { left in
        defer { left = nil }
        return left
      }
    }
  }

  @Test(arguments: [1, 2]) func `checks each partial response against the request of the same attempt`(
    right: Int
  ) async throws {
    let gates = [Gate(), Gate()]
    defer { for gate in gates { gate.open() } }
    let shop = VirtualShop { number, request, _ in
      let (range, text) = number == right ? ("bytes 2-4/10", "234") : ("bytes 3-5/10", "345")
      return HTTPResponse(
        .partialContent, url: request.url, headers: [.contentRange: range],
        body: HTTPResponseBody(LatePart(text, gates[number - 1])))
    }
    let task = shop.task().range(ByteRange(2..<5)).retry(.never).hedged(after: .seconds(1))
    let call = Task { try await task.downloadData() }
    #expect(await eventually { shop.moments(containing: "206").count == 1 })
    await shop.clock.pass(.seconds(1), sleepers: 1)
    #expect(await eventually { shop.moments(containing: "206").count == 2 })
    gates[0].open()
    #expect(await eventually { shop.manager.runningCount == 1 })
    gates[1].open()
    let result = await call.result
    if right == 1 {
      #expect(try result.get() == Data("234".utf8))
    } else {
      let error = #expect(throws: TaskError.self) { try result.get() }
      #expect(error?.reason.contains("got Content-Range 'bytes 3-5/10'") == true, "\(result)")
    }
  }

  @Test func `reports the cache status of the winning attempt`() async throws {
    let gate = Gate()
    defer { gate.open() }
    let shop = VirtualShop(configure: { $0.cache = MemoryCache() }) { number, request, _ in
      guard number == 1 else { return .status(.serviceUnavailable, for: request) }
      return HTTPResponse(
        url: request.url, headers: [.cacheControl: "max-age=60"], body: HTTPResponseBody(LatePart("seven", gate)))
    }
    let call = Task { try await shop.task().hedged(after: .seconds(1)).run() }
    #expect(await eventually { shop.moments(containing: "200").count == 1 })
    await shop.clock.pass(.seconds(1), sleepers: 1)
    #expect(await eventually { !shop.moments(containing: "attempt 2 ended").isEmpty })
    gate.open()
    #expect(try await call.value.headers[.cacheStatus] == "errand; fwd=uri-miss; stored")
  }

  @Test func `does not hedge a fast response`() async throws {
    let shop = make(slow: [])
    try await shop.task().hedged(after: .seconds(1)).run()
    #expect(shop.sentCount == 1 && shop.clock.sleeperCount == 0)
  }

  @Test func `a retryable response does not win while another attempt is running`() async throws {
    let shop = make(slow: [.seconds(3)], status: { $0 == 2 ? .serviceUnavailable : .ok })
    let call = Task { try await shop.task().hedged(after: .seconds(1)).run() }
    await shop.clock.pass(.seconds(1), sleepers: 2)
    #expect(await eventually { !shop.moments(containing: "attempt 2 ended").isEmpty })
    await shop.clock.pass(.seconds(2), sleepers: 2)
    #expect(try await call.value.headers["X-Number"] == "1")
  }

  @Test(arguments: [
    (HTTPStatus.tooManyRequests, String?.none), (.serviceUnavailable, nil), (.internalServerError, "30"),
  ])
  func `sends no more hedges after the server asks the client to wait`(status: HTTPStatus, wait: String?) async throws {
    let shop = VirtualShop(configure: { $0.retryPolicy = .never }) { number, request, clock in
      if number == 1 {
        try await CallClock(clock).sleep(for: .seconds(10))
        return .ok(request)
      }
      return .status(status, headers: wait.map { ["Retry-After": $0] } ?? [:], for: request)
    }
    let call = Task { try await shop.task().hedged(after: .seconds(1), maximum: 5).run() }
    await shop.clock.pass(.seconds(1), sleepers: 2)
    #expect(await eventually { !shop.moments(containing: "attempt 2 ended").isEmpty })
    await giveWay(50)
    await shop.clock.pass(.seconds(1), sleepers: 2)
    await giveWay(50)
    #expect(shop.sentCount == 2)
    shop.clock.advance(by: .seconds(8))
    #expect(try await call.value.status == .ok)
    #expect(shop.sentCount == 2 && shop.events.isBalanced)
  }

  @Test func `retries the call if the first attempt and its hedge both fail`() async throws {
    let shop = make(slow: [.seconds(2)], status: { $0 < 3 ? .serviceUnavailable : .ok })
    let task = shop.task().hedged(after: .seconds(1)).retry(upTo: 5, after: .seconds(7))
    let call = Task { try await task.run() }
    await shop.clock.pass(.seconds(1), sleepers: 2)
    #expect(await eventually { !shop.moments(containing: "attempt 2 ended").isEmpty })
    await shop.clock.pass(.seconds(1), sleepers: 2)
    #expect(await eventually { !shop.moments(containing: "to retry").isEmpty })
    await shop.clock.pass(.seconds(7))
    #expect(try await call.value.headers["X-Number"] == "3")
    #expect(shop.moments(containing: "attempt 3 ended").count == 1)
    #expect(shop.events.isBalanced)
  }

  @Test func `sends no more hedges than the maximum`() async throws {
    let shop = make(slow: Array(repeating: .seconds(100), count: 9))
    let call = Task { try await shop.task().hedged(after: .seconds(1), maximum: 2).run() }
    await shop.clock.pass(.seconds(1), sleepers: 2)
    await shop.clock.pass(.seconds(1), sleepers: 3)
    await shop.clock.sleepers(count: 4)
    shop.clock.advance(by: .seconds(1))
    await giveWay(20)
    #expect(shop.sentCount == 3)
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    #expect(shop.manager.runningCount == 0 && shop.events.isBalanced)
  }

  @Test func `a hedge that was not sent costs no retry budget`() async throws {
    let shop = VirtualShop(
      budget: RetryBudget(ratio: 0, capacity: 2),
      answer: { number, request, clock in
        if number == 2 { throw TaskError(.cannotConnect, "refused", phase: .connecting, wasNotSent: true) }
        try await CallClock(clock).sleep(for: .seconds(number == 1 ? 100 : 1))
        return .ok(request)
      })
    let call = Task { try await shop.task().hedged(after: .seconds(3), maximum: 2).run() }
    await shop.clock.pass(.seconds(3), sleepers: 2)
    #expect(await eventually { shop.sentCount == 2 && shop.manager.retriesLeft(for: host) == 2 })
    await shop.clock.pass(.seconds(3), sleepers: 2)
    #expect(await eventually { shop.sentCount == 3 && shop.manager.retriesLeft(for: host) == 1 })
    await shop.clock.pass(.seconds(1), sleepers: 2)
    _ = try await call.value
    #expect(shop.manager.retriesLeft(for: host) == 1)
  }

  @Test func `does not hedge a call that waits for a slot`() async throws {
    let shop = make(slow: [.seconds(9), .zero], limits: ThrottleLimits(perHost: 1))
    let first = Task { try await shop.task().run() }
    await shop.clock.sleepers(count: 1)
    let second = Task { try await shop.task().hedged(after: .seconds(2)).run() }
    #expect(await eventually { shop.manager.waitingCount == 1 })
    for _ in 0..<4 { await shop.clock.pass(.seconds(2), sleepers: 1) }
    #expect(shop.manager.waitingCount == 1)
    await shop.clock.pass(.seconds(1), sleepers: 1)
    _ = try await first.value
    _ = try await second.value
    #expect(shop.sentCount == 2)
  }

  /// The reason not to hedge an attempt.
  enum Obstacle: CaseIterable, Sendable {
    case method, body, stream, file, budget, circuit
  }

  @Test(arguments: Obstacle.allCases)
  func `does not hedge if a second request is unsafe or not allowed`(obstacle: Obstacle) async throws {
    let breaker = CircuitBreaker(minimumCalls: 1)
    let shop = make(slow: [.seconds(5)], budget: obstacle == .budget ? RetryBudget(capacity: 0) : .standard) {
      $0.circuitBreaker = breaker
      $0.hedging = .after(.seconds(1))
    }
    let call = Task {
      switch obstacle {
      case .method: try await shop.task(method: .post).run()
      case .body: try await OneShot(server: shop.server).run()
      case .stream: _ = try await shop.task().stream()
      case .file: _ = try await withFolder { try await shop.task().download(to: $0.appendingPathComponent("file")) }
      case .budget, .circuit: try await shop.task().run()
      }
    }
    await shop.clock.sleepers(count: obstacle == .budget || obstacle == .circuit ? 2 : 1)
    if obstacle == .circuit {
      try shop.manager.circuits.permit(for: host, breaker).end(.failure)
    }
    shop.clock.advance(by: .seconds(1))
    await giveWay(20)
    await shop.clock.pass(.seconds(4))
    _ = try await call.value
    #expect(shop.sentCount == 1)
  }

  private struct OneShot: ServerTask {
    let server: Server
    let idempotency = Idempotency.safeToRepeat
    func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
      .once(AsyncStream<Data> { $0.finish() })
    }
  }

  /// Requests a token, then pays with it.
  private struct Paying: PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      _ = try await next(request)
      var payment = request
      payment.method = .post
      payment.body = .text("pay 100")
      return try await next(payment)
    }
  }

  /// Creates a shop that takes six seconds to issue a token and counts the payments.
  private func makePaying(
    _ payments: Shared<Int>, answer: @escaping @Sendable (Int, HTTPRequest, CallClock) async throws -> HTTPResponse
  ) -> VirtualShop {
    VirtualShop(configure: { $0.perAttemptSteps = [Paying()] }) { _, request, clock in
      guard request.method == .post else {
        try await CallClock(clock).sleep(for: .seconds(6))
        return .ok(request)
      }
      let number = payments.withLock { number in
        number += 1
        return number
      }
      return try await answer(number, request, CallClock(clock))
    }
  }

  @Test func `does not hedge a non-repeatable request that a step sends`() async throws {
    let payments = Shared(0)
    let shop = makePaying(payments) { _, request, clock in
      try await clock.sleep(for: .seconds(8))
      return .ok(request)
    }
    let call = Task { try await shop.task().hedged(after: .seconds(7)).run() }
    await shop.clock.pass(.seconds(6), sleepers: 2)  // the token and the hedging delay
    #expect(await eventually { payments.withLock { $0 } == 1 })
    await shop.clock.pass(.seconds(8), sleepers: 1)
    #expect(try await call.value.status == .ok)
    #expect(payments.withLock { $0 } == 1 && shop.sentCount == 2)
    #expect(shop.manager.runningCount == 0 && shop.events.isBalanced)
  }

  @Test func `retries a failure even if the token expired while a hedge was running`() async throws {
    let tokens = NumberedTokens()
    let shop = VirtualShop(configure: { $0.authentication = .custom(tokens) }) { number, request, clock in
      if number == 1 { try await CallClock(clock).sleep(for: .seconds(200)) }
      return .status(number < 3 ? .serviceUnavailable : .ok, for: request)
    }
    tokens.end(1, at: shop.manager.dates.epoch.addingTimeInterval(100))
    tokens.fail(TaskError(.badResponse, "no token", phase: .preparing))
    let task = shop.task().hedged(after: .seconds(150)).retry(upTo: 2, after: .seconds(7))
    let call = Task { try await task.run().status }
    await shop.clock.pass(.seconds(150), sleepers: 2)
    #expect(await eventually { !shop.moments(containing: "attempt 2 ended").isEmpty })
    tokens.fail(nil)
    await shop.clock.pass(.seconds(50), sleepers: 1)
    #expect(await eventually { !shop.moments(containing: "to retry").isEmpty })
    await shop.clock.pass(.seconds(7), sleepers: 1)
    #expect(try await call.value == .ok)
  }

  @Test func `a call that waited for the only slot is not hedged`() async throws {
    let shop = make(slow: [.seconds(5)], limits: ThrottleLimits(perHost: 1))
    let first = Task { try await shop.task().run() }
    await shop.clock.pass(.zero, sleepers: 1)
    let second = Task { try await shop.task().hedged(after: .zero).run() }
    #expect(await eventually { shop.manager.waitingCount == 1 })
    await shop.clock.pass(.seconds(5), sleepers: 1)
    #expect(try await first.value.status == 200)
    #expect(try await second.value.status == 200)
    #expect(shop.sentCount == 2 && shop.manager.runningCount == 0 && shop.events.isBalanced)
  }

  @Test func `hedging continues after the first attempt fails to connect`() async throws {
    let shop = VirtualShop { number, request, clock in
      if number == 1 {
        try await CallClock(clock).sleep(for: .seconds(3))
        throw TaskError(.cannotConnect, "refused", phase: .connecting, wasNotSent: true)
      }
      if number == 2 { try await CallClock(clock).sleep(for: .seconds(100)) }
      return .status(.ok, headers: ["X-Number": "\(number)"], for: request)
    }
    let call = Task { try await shop.task().hedged(after: .seconds(2), maximum: 2).run() }
    await shop.clock.pass(.seconds(2), sleepers: 2)
    await shop.clock.pass(.seconds(1), sleepers: 3)
    #expect(await eventually { shop.manager.runningCount == 1 })
    await shop.clock.pass(.seconds(1), sleepers: 2)
    #expect(await eventually { shop.sentCount == 3 })
    #expect(try await call.value.headers["X-Number"] == "3")
    #expect(shop.manager.runningCount == 0 && shop.events.isBalanced)
  }

  @Test(arguments: [HTTPMethod.put, .delete, .get]) func `sends hedges only for safe methods`(
    method: HTTPMethod
  ) async throws {
    let shop = make(slow: [.seconds(100)]) { $0.hedging = .after(.seconds(1)) }
    let call = Task { try await shop.task(method: method).run() }
    await shop.clock.sleepers(count: method.isSafe ? 2 : 1)
    // An unsafe method has no hedging delay to wait for, so let more time pass than the delay.
    for _ in 0..<5 {
      shop.clock.advance(by: .seconds(1))
      await giveWay(20)
    }
    if !method.isSafe { shop.clock.advance(by: .seconds(95)) }
    #expect(try await call.value.headers["X-Number"] == (method.isSafe ? "2" : "1"))
    #expect(shop.sentCount == (method.isSafe ? 2 : 1))
  }
}
