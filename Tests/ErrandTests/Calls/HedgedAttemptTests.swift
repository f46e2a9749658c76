import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// The record and the error of an attempt whose exchanges are hedged.
@Suite(.timeLimit(.minutes(1))) struct HedgedAttemptTests {
  @Test(arguments: [false, true]) func `records the response of an attempt that waited for a network`(isHedged: Bool)
    async throws
  {
    let shop = VirtualShop(configure: {
      $0.waitsForConnectivity = true
      $0.reachability = PollingReachability()
      if isHedged { $0.hedging = .after(.seconds(1000)) }
    }) { number, request, _ in
      if number == 1 { throw TaskError(.cannotConnect, "refused", phase: .connecting, wasNotSent: true) }
      return .ok(request)
    }
    let isOver = Shared(false)
    let call = Task {
      defer { isOver.withLock { $0 = true } }
      return try await shop.task().run()
    }
    while !isOver.withLock({ $0 }) {
      await giveWay(5)
      shop.clock.advance(by: .milliseconds(100))
    }
    let record = try #require(try await call.value.record.attempts.last)
    #expect(shop.sentCount == 2)
    #expect(record.failure == nil && record.status == .ok, "\(record)")
    #expect(shop.moments(containing: "attempt 1 ended").allSatisfy { !$0.contains("refused") })
  }

  private struct Again: PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      return response.status == .serviceUnavailable ? try await next(request) : response
    }
  }

  @Test func `ends every exchange when a step resends a hedged request`() async throws {
    let shop = VirtualShop(configure: {
      $0.hedging = .after(.seconds(1))
      $0.retryPolicy = .never
      $0.perAttemptSteps = [Again()]
    }) { number, request, clock in
      switch number {
      case 1: return .unavailable(request)
      case 2:
        try await CallClock(clock).sleep(for: .seconds(100))
        return .ok(request)
      default: return .ok(request)
      }
    }
    let call = Task { try await shop.task().run() }
    await shop.clock.pass(.seconds(1), sleepers: 2)
    let response = try await call.value
    #expect(response.status == .ok && shop.sentCount == 3)
    #expect(response.record.attempts.map(\.number) == [1, 2])
    #expect(response.record.attempts.last?.status == .ok, "\(response.record.attempts)")
    #expect(shop.events.isBalanced, "\(shop.events.problems)")
  }

  @Test(arguments: [false, true]) func `records the body of a rejected response`(isHedged: Bool) async throws {
    let calls = RecordedCalls()
    let shop = VirtualShop(configure: {
      $0.recorders = [calls]
      $0.retryPolicy = .never
      if isHedged { $0.hedging = .after(.seconds(1)) }
    }) { _, request, _ in
      HTTPResponse(
        .serviceUnavailable, url: request.url, headers: [.contentType: "text/plain"],
        body: HTTPResponseBody(Data("sorry".utf8)))
    }
    let error = await taskError { try await shop.task().run() }
    #expect(error?.body == Data("sorry".utf8))
    let body = calls.calls.first?.exchanges.last?.response?.body
    #expect("\(body as Any)".contains("sorry"), "\(body as Any)")
    let moments = shop.events.moments()
    let read = moments.firstIndex { $0.contains("bytes") } ?? .max
    #expect(read < moments.firstIndex { $0.contains("attempt 1 ended") } ?? 0, "\(moments)")
  }

  @Test func `does not resend after waiting for connectivity if a hedge may have been sent`() async throws {
    let shop = VirtualShop(configure: {
      $0.waitsForConnectivity = true
      $0.reachability = PollingReachability()
      $0.retryPolicy = .never
      $0.hedging = .after(.seconds(1))
    }) { number, request, clock in
      switch number {
      case 1:
        try await CallClock(clock).sleep(for: .seconds(2))
        throw TaskError(.cannotConnect, "refused", phase: .connecting, wasNotSent: true)
      case 2: throw TaskError(.connectionLost, "lost", phase: .awaitingResponse)
      default: return .ok(request)
      }
    }
    let isOver = Shared(false)
    let call = Task {
      defer { isOver.withLock { $0 = true } }
      return try await shop.task().run()
    }
    await shop.clock.pass(.seconds(1), sleepers: 2)
    #expect(await eventually { shop.sentCount == 2 })
    while !isOver.withLock({ $0 }) {
      await giveWay(5)
      shop.clock.advance(by: .milliseconds(100))
    }
    _ = await call.result
    #expect(shop.sentCount == 2, "\(shop.events.moments())")
  }
}
