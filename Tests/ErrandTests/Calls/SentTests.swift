import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Requests that were sent by steps, by fallbacks or for other calls.
@Suite(.timeLimit(.minutes(1))) struct SentTests {
  /// Sends a POST to a mirror if the call fails.
  private struct Fallback: PerCallStep, PerAttemptStep {
    let mirror: Server
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      do {
        return try await next(request)
      } catch is TaskError {
        return try await URLTask(.known("https://shop.test/mirror"), method: .post).on(mirror).run()
      }
    }
  }

  @Test(arguments: [true, false]) func `wasNotSent is false if a step's fallback has sent a POST`(isPerCall: Bool)
    async throws
  {
    let mirror = StubServer(.lost, configure: { $0.retryPolicy = .never })
    let shop = VirtualShop(
      configure: {
        let step = Fallback(mirror: mirror.server)
        if isPerCall { $0.perCallSteps = [step] } else { $0.perAttemptSteps = [step] }
        $0.retryPolicy = .never
      },
      answer: { _, _, _ in throw TaskError(.cannotConnect, "refused", phase: .connecting, wasNotSent: true) })
    let error = await taskError { try await shop.task(method: .post).run() }
    #expect(mirror.requests.count == 1 && error?.wasNotSent == false, "\(error as Any)")
  }

  private struct UnsentAgain: PerCallStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      do { return try await next(request) } catch let error as TaskError where error.wasNotSent {
        return try await next(request)
      }
    }
  }

  @Test func `a step that retries unsent requests does not resend a POST that a fallback has sent`() async throws {
    let mirror = StubServer(.lost, configure: { $0.retryPolicy = .never })
    let shop = VirtualShop(
      configure: {
        $0.perCallSteps = [UnsentAgain(), Fallback(mirror: mirror.server)]
        $0.retryPolicy = .never
      },
      answer: { _, _, _ in throw TaskError(.cannotConnect, "refused", phase: .connecting, wasNotSent: true) })
    _ = await taskError { try await shop.task(method: .post).run() }
    #expect(mirror.requests.count == 1)
    // The caller also retries unsent requests.
    let caller = await taskError { try await shop.task(method: .post).run() }
    if caller?.wasNotSent == true { _ = await taskError { try await shop.task(method: .post).run() } }
    #expect(mirror.requests.count == 2, "the caller's retry sent the POST again")
  }

  @Test func `wasNotSent is false if the deadline expires after the call has joined a sent request`() async throws {
    let gate = Gate()
    let shop = CachedShop(
      configure: { ($0.coalescesRequests, $0.cache) = (true, nil) },
      answer: { _, request in
        await gate.wait()
        return .text("fine", for: request)
      })
    let patient = Task { try await shop.task().download() }
    #expect(await eventually { shop.sentCount == 1 })
    let call = Task { try await shop.task().deadline(.seconds(5)).download() }
    #expect(await eventually { shop.events.moments().count { $0.hasPrefix("joined") } == 2 })
    await shop.clock.pass(.seconds(5))
    let error = await taskError { _ = try await call.value }
    #expect(error?.timer == .call && error?.wasNotSent == false, "\(error as Any)")
    gate.open()
    _ = try await patient.value
  }

  /// Sends a GET as a POST and throws as soon as the POST has been sent.
  private struct Impatient: PerAttemptStep {
    let isSent: Counter
    let work = Shared<[Task<HTTPResponse, any Error>]>([])
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      var request = request
      request.method = .post
      let (post, before) = (request, isSent.count)
      work.withLock { $0.append(Task { try await next(post) }) }
      await isSent.reached(before + 1)
      throw TaskError(.timedOut, "too slow", phase: .awaitingResponse)
    }
  }

  @Test func `does not retry a POST that a step has sent without awaiting it`() async throws {
    let (gate, isSent) = (Gate(), Counter())
    let step = Impatient(isSent: isSent)
    let shop = VirtualShop(
      configure: {
        $0.perAttemptSteps = [step]
        $0.retryPolicy = .fixed(retries: 1, delay: .zero)
      },
      answer: { _, request, _ in
        isSent.add()
        await gate.wait()
        return .ok(request)
      })
    _ = await taskError { try await shop.task().run() }
    #expect(shop.sentCount == 1, "a POST was sent twice")
    gate.open()
    for work in step.work.withLock({ $0 }) { _ = await work.result }
  }

  @Test func `does not send a step's queued request after its call has ended`() async throws {
    /// Sends each POST in a Swift task that outlives the call.
    struct Abandoning: PerAttemptStep {
      let work: Shared<Task<HTTPResponse, any Error>?>
      let isQueued: @Sendable () async -> Void
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard request.method == .post else { return try await next(request) }
        let task = Task { try await next(request) }
        work.withLock { $0 = task }
        await isQueued()
        throw TaskError(.timedOut, "too slow", phase: .waiting, wasNotSent: true)
      }
    }
    let (gate, work, place) = (Gate(), Shared<Task<HTTPResponse, any Error>?>(nil), Shared<Server?>(nil))
    let shop = VirtualShop(
      limits: ThrottleLimits(perHost: 1),
      configure: {
        $0.retryPolicy = .never
        $0.perAttemptSteps = [
          Abandoning(work: work) {
            _ = await eventually { place.withLock { $0 }?.manager.throttle.waiting == 1 }
          }
        ]
      },
      answer: { number, request, _ in
        if number == 1 { await gate.wait() }
        return .ok(request)
      })
    place.withLock { $0 = shop.server }
    let first = Task { try await shop.task().run() }
    #expect(await eventually { shop.sentCount == 1 })
    let error = await taskError { try await shop.task(method: .post).run() }
    gate.open()
    _ = try await first.value
    _ = await work.withLock { $0 }?.result
    #expect(shop.sentCount == 1, "the request was sent after its call ended; wasNotSent: \(error?.wasNotSent as Any)")
    place.withLock { $0 = nil }
  }
}
