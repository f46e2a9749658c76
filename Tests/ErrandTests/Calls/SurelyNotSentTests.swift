import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Only an attempt's own admission and transport mark its errors as not sent.
@Suite(.timeLimit(.minutes(1))) struct SurelyNotSentTests {
  private static let refused = TaskError(.cannotConnect, "refused", phase: .connecting, wasNotSent: true)

  /// Sends the request, then runs `report`, which makes another call that fails before it is sent.
  private struct Reporting: PerAttemptStep {
    let report: @Sendable () async throws -> Void
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      try await report()
      return response
    }
  }

  private func shop(_ configure: (inout ServerConfiguration) -> Void) -> VirtualShop {
    VirtualShop(.autoAdvancing, configure: configure) { _, request, _ in .status(.created, for: request) }
  }

  @Test func `does not resend a POST that received a 201 if a nested call fails`() async throws {
    let other = StubServer(.refused)
    let shop = shop { configuration in
      configuration.perAttemptSteps = [Reporting { try await PlainTask().on(other.server).retry(.never).run() }]
    }
    let error = try #require(await taskError { try await shop.task(method: .post).run() })
    #expect(shop.sentCount == 1 && error.code == .cannotConnect)
    #expect(!error.wasNotSent, "this call's own request was sent")
  }

  @Test func `a not-sent error from the body's producer does not mark the request as not sent`() async throws {
    let sent = Counter()
    let transport = StubTransport { request in
      sent.add()
      try await request.body.readChunks { _ in }
      _ = try await request.body.trailerFields()
      return .status(.created, for: request)
    }
    let server = Server("https://shop.test", transport: transport, environment: [:])
    let bodies = [
      HTTPBody.stream {
        AsyncThrowingStream<Data, any Error> { stream in
          stream.yield(Data("half".utf8))
          stream.finish(throwing: Self.refused)
        }
      },
      HTTPBody.text("whole").trailers(["X-Sum"]) { throw Self.refused },
    ]
    for (index, body) in bodies.enumerated() {
      let task = URLTask(.known("https://shop.test/orders"), method: .post, body: body).on(server)
      let error = try #require(await taskError { try await task.run() })
      #expect(sent.count == index + 1 && error.code == .cannotConnect && !error.wasNotSent)
    }
  }

  @Test func `an error from postProcess does not mark the request as not sent`() async throws {
    struct Failing: ServerPOSTTask {
      let path = "orders"
      func postProcess(response: HTTPResponse) async throws { throw SurelyNotSentTests.refused }
    }
    let shop = shop { _ in }
    let error = try #require(await taskError { try await Failing().on(shop.server).run() })
    #expect(shop.sentCount == 1 && !error.wasNotSent)
  }

  @Test func `does not retry if a step throws a not-sent error`() async throws {
    struct Failing: PerAttemptStep {
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse { throw SurelyNotSentTests.refused }
    }
    let shop = shop { $0.perAttemptSteps = [Failing()] }
    let error = try #require(await taskError { try await shop.task(method: .post).run() })
    #expect(shop.sentCount == 0 && error.attempts.count == 1)
  }

  /// The per-call version of `Reporting`.
  private struct ReportingOnce: PerCallStep {
    let report: @Sendable () async throws -> Void
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      try await report()
      return response
    }
  }

  @Test func `not-sent errors from per-call steps and hooks do not mark the request as not sent`() async throws {
    let other = StubServer(.refused)
    let report = { @Sendable in _ = try await PlainTask().on(other.server).retry(.never).run() }
    let stepped = shop { $0.perCallSteps = [ReportingOnce(report: report)] }
    let first = try #require(await taskError { try await stepped.task(method: .post).run() })
    #expect(stepped.sentCount == 1 && first.code == .cannotConnect && !first.wasNotSent)
    let count = Counter()
    let hooked = VirtualShop(
      .autoAdvancing,
      configure: {
        $0.preflight = { _, _ in
          count.add()
          if count.count > 1 { try await report() }
        }
      }, answer: { _, request, _ in .unavailable(request) })
    let second = try #require(await taskError { try await hooked.task(method: .put).run() })
    #expect(hooked.sentCount == 1 && second.code == .cannotConnect && !second.wasNotSent)
  }

  @Test func `a POST whose deadline expires in the queue was not sent`() async throws {
    let shop = VirtualShop(limits: ThrottleLimits(perHost: 1)) { _, request, clock in
      try await CallClock(clock).sleep(for: .seconds(1000))
      return .ok(request)
    }
    let first = Task { try await shop.task().run() }
    await shop.clock.sleepers(count: 1)
    let second = Task { await taskError { try await shop.task(method: .post).deadline(.seconds(3)).run() } }
    await shop.clock.pass(.seconds(3), sleepers: 2)
    let error = try #require(await second.value)
    #expect(error.timer == .call && error.wasNotSent && shop.sentCount == 1)
    first.cancel()
    _ = await first.result
  }

  @Test func `a POST whose token request fails was not sent`() async throws {
    struct Failing: Authenticator {
      func storedToken() async throws -> Int? { throw TaskError(.badResponse, "down", phase: .authenticating) }
      func apply(_ token: Int, to request: inout HTTPRequest) {}
      func refresh(_ token: Int?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> Int? { nil }
    }
    let shop = shop { $0.authentication = .custom(Failing()) }
    let error = try #require(await taskError { try await shop.task(method: .post).run() })
    #expect(shop.sentCount == 0 && error.wasNotSent, "\(error)")
  }

  @Test func `a step's unsent POST does not prevent a retry of the GET`() async throws {
    struct Announcing: PerAttemptStep {
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        _ = try? await next(HTTPRequest(.post, request.url))
        return try await next(request)
      }
    }
    let shop = VirtualShop(.autoAdvancing, configure: { $0.perAttemptSteps = [Announcing()] }) { number, request, _ in
      if request.method == .post { throw Self.refused }
      return number < 4 ? .unavailable(request) : .ok(request)
    }
    #expect(try await shop.task().run().status == .ok)
    #expect(shop.sentCount == 4)
  }

  @Test func `a request that was not sent costs no retry budget`() async throws {
    let shop = VirtualShop(.autoAdvancing, budget: RetryBudget(ratio: 0, capacity: 1)) { _, _, _ in
      throw Self.refused
    }
    for _ in 0..<3 {
      let error = try #require(await taskError { try await shop.task(method: .post).run() })
      #expect(error.attempts.count == 3)
    }
    let host = try #require(Origin(.known("https://shop.test")))
    #expect(shop.manager.retriesLeft(for: host) == 1)
  }
}
