import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Effects of an earlier attempt or response on steps, the cache and the circuit breaker.
@Suite(.timeLimit(.minutes(1))) struct EarlierAttemptTests {
  private static let refused = TaskError(.cannotConnect, "refused", phase: .connecting, wasNotSent: true)

  /// Records the error that a per-call step sees.
  private struct Witness: PerCallStep {
    let seen: Shared<TaskError?>

    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      do {
        return try await next(request)
      } catch {
        seen.withLock { $0 = error as? TaskError }
        throw error
      }
    }
  }

  @Test func `a step receives an error with wasNotSent false if an earlier attempt was sent`() async throws {
    let seen = Shared<TaskError?>(nil)
    let shop = VirtualShop(
      .autoAdvancing,
      configure: {
        $0.perCallSteps = [Witness(seen: seen)]
        $0.retryPolicy = .fixed(retries: 1, delay: .zero)
      }
    ) { number, _, _ in
      if number == 1 { throw TaskError(.connectionLost, "lost", phase: .awaitingResponse) }
      throw Self.refused
    }
    let error = await taskError { try await shop.task(method: .put).run() }
    #expect(shop.sentCount == 2 && error?.wasNotSent == false)
    #expect(seen.withLock { $0 }?.wasNotSent == false)
  }

  @Test func `the networkFirst limit applies only if a cached response can be used`() async throws {
    let seen = Shared<TaskError?>(nil)
    let clock = Shared<ManualClock?>(nil)
    let shop = CachedShop(configure: { $0.perCallSteps = [Witness(seen: seen)] }) { number, request in
      if number == 2, let clock = clock.withLock({ $0 }) { try await CallClock(clock).sleep(for: .seconds(5)) }
      return .text("\(number)", ["Cache-Control": "max-age=600", "ETag": "\"1\""], for: request)
    }
    clock.withLock { $0 = shop.clock }
    _ = try await shop.get()
    let call = Task {
      try await shop.task("widgets/7", .networkFirst(limit: .seconds(3))).header("If-Match", "\"1\"").download()
    }
    await shop.clock.sleepers(count: 1)
    await giveWay(20)
    shop.clock.advance(by: .seconds(3))
    await giveWay(20)
    shop.clock.advance(by: .seconds(2))
    let result = await call.result
    #expect((try? result.get()) == "2", "\(result)")
    if let error = seen.withLock({ $0 }) { #expect(!error.wasNotSent, "the request was sent") }
  }

  @Test func `does not resend a conditional GET that must not be repeated`() async throws {
    let shop = CachedShop { number, request in
      number == 1
        ? .text("1", ["Cache-Control": "max-age=0", "ETag": "\"1\""], for: request)
        : number == 2
          ? .status(304, headers: ["ETag": "\"2\""], for: request)
          : .text("3", ["Cache-Control": "max-age=0"], for: request)
    }
    _ = try await shop.get()
    shop.clock.advance(by: .seconds(5))
    _ = await Task { try await shop.task().idempotency(.neverRepeat).download() }.result
    #expect(shop.sentCount == 2)
  }

  @Test func `a paused call does not keep the circuit half-open`() async throws {
    let body = ScriptedBody(["a", "b"], .ends)
    let mayAnswer = Gate()
    let shop = VirtualShop(
      configure: {
        $0.retryPolicy = .never
        $0.circuitBreaker = CircuitBreaker(
          window: .seconds(60), minimumCalls: 2, failureRatio: 0.5, openDuration: .seconds(10))
      }
    ) { number, request, _ in
      if number <= 2 { return .status(500, for: request) }
      if number == 3 { await mayAnswer.wait() }
      return HTTPResponse(url: request.url, body: HTTPResponseBody(number == 3 ? body : ScriptedBody(["a"], .ends)))
    }
    for _ in 0..<2 { _ = await taskError { try await shop.task().run() } }
    shop.clock.advance(by: .seconds(11))
    let handle = shop.manager.start(shop.task())
    #expect(await eventually { shop.sentCount == 3 })
    #expect(handle.pause())
    mayAnswer.open()
    #expect(await eventually { shop.moments(containing: "200").count == 1 })
    shop.clock.advance(by: .seconds(1000))
    let error = await taskError { try await shop.task().run() }
    #expect(error == nil, "\(error?.reason ?? "")")
    handle.resume()
    _ = try await handle.value
  }
}
