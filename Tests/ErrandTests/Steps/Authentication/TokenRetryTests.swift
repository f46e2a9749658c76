import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Retries of token requests.
@Suite(.timeLimit(.minutes(1))) struct TokenRetryTests {
  private static let lost = TaskError(.connectionLost, "lost", phase: .awaitingResponse)
  private static let refused = TaskError(.cannotConnect, "refused", phase: .connecting, wasNotSent: true)

  /// A failure of the token endpoint.
  enum Failure: Sendable, CustomStringConvertible {
    case status(HTTPStatus, HTTPHeaders = [:])
    case error(TaskError)

    var description: String {
      switch self {
      case .status(let status, _): "\(status)"
      case .error(let error): "\(error.code)"
      }
    }
  }

  private let service = TokenService()
  /// The failures of the next token requests.
  private let failures = Shared<[Failure]>([])
  private let tries = Counter()

  private func shop(
    _ settings: OAuth2, _ mode: ManualClock.Mode = .autoAdvancing, _ failures: Failure...
  ) -> VirtualShop {
    self.failures.withLock { $0 = failures }
    return VirtualShop(
      mode, configure: { $0.authentication = .oauth2(settings) },
      answer: { [service, tries, failures = self.failures] _, request, _ in
        guard request.url.path == TokenService.url.path else { return service.answer(request) }
        tries.add()
        switch failures.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
        case .status(let status, let headers): return .status(status, headers: headers, for: request)
        case .error(let error): throw error
        case nil: return service.answer(request)
        }
      })
  }

  private static let onceOnly: [OAuth2.Grant] = [
    .refreshToken("first"), .authorizationCode("c0de"), .password(user: "ann", password: "pw"),
  ]

  @Test(arguments: [Failure.status(429), .status(503), .status(502), .status(408), .error(lost), .error(refused)])
  func `retries client credentials after a transient failure`(failure: Failure) async throws {
    let shop = shop(service.settings(.clientCredentials), .autoAdvancing, failure, failure)
    #expect(try await shop.task().run().status == .ok)
    #expect(tries.count == 3 && service.requests.count == 1)
  }

  @Test(arguments: onceOnly, [Failure.status(429), .status(503), .error(refused)])
  func `retries a one-time grant if the server did not process it`(
    grant: OAuth2.Grant, failure: Failure
  ) async throws {
    service.give("first")
    let shop = shop(service.settings(grant), .autoAdvancing, failure, failure)
    #expect(try await shop.task().run().status == .ok)
    #expect(tries.count == 3 && service.requests.count == 1)
  }

  @Test(arguments: onceOnly, [Failure.status(502), .status(408), .error(lost)])
  func `does not resend a one-time grant that the server may have processed`(
    grant: OAuth2.Grant, failure: Failure
  ) async throws {
    let shop = shop(service.settings(grant), .autoAdvancing, failure)
    #expect(await taskError { try await shop.task().run() } != nil)
    #expect(tries.count == 1)
    // A retry after a 503 fails in the same way.
    let other = self.shop(service.settings(grant), .autoAdvancing, .status(503), failure)
    _ = await taskError { try await other.task().run() }
    #expect(tries.count == 3)
  }

  @Test(arguments: onceOnly) func `does not resend a one-time grant even if the app sends it with GET`(
    grant: OAuth2.Grant
  ) async throws {
    let settings = service.settings(grant) { settings in
      settings.tokenRequest = { HTTPRequest(.get, $0.url) }
    }
    let shop = shop(settings, .autoAdvancing, .error(Self.lost))
    #expect(await taskError { try await shop.task().run() }?.code == .connectionLost)
    #expect(tries.count == 1)
  }

  @Test func `does not retry a client error`() async throws {
    let shop = shop(service.settings(.clientCredentials), .autoAdvancing, .status(400))
    #expect(await taskError { try await shop.task().run() }?.status == 400)
    #expect(tries.count == 1)
  }

  @Test func `the sign-in's retry policy overrides the server's`() async throws {
    let never = service.settings(.clientCredentials) { $0.retryPolicy = .never }
    #expect(await taskError { try await shop(never, .autoAdvancing, .status(503)).task().run() }?.status == 503)
    #expect(tries.count == 1)
    let inherited = shop(service.settings(.clientCredentials), .autoAdvancing, .status(503))
    await inherited.server.update { $0.retryPolicy = .never }
    #expect(await taskError { try await inherited.task().run() }?.status == 503)
    #expect(tries.count == 2)
  }

  @Test(arguments: [OAuth2.Grant.clientCredentials, .refreshToken("first")])
  func `a retry closure decides whether to retry a failure`(grant: OAuth2.Grant) async throws {
    service.give("first")
    let seen = Shared<[String]>([])
    let settings = service.settings(grant) { settings in
      settings.retryPolicy = .decided { failure in
        seen.withLock { $0.append("\(failure.attempts.count) \(failure.error.status?.code ?? 0)") }
        return failure.error.status == 503 ? .retry(after: .seconds(2)) : .giveUp
      }
    }
    let unavailable = Failure.status(503)
    let shop = shop(settings, .autoAdvancing, unavailable, unavailable, unavailable, unavailable, .status(429))
    #expect(await taskError { try await shop.task().run() }?.status == 429)
    #expect(seen.withLock { $0 } == ["1 503", "2 503", "3 503", "4 503", "5 429"] && tries.count == 5)
  }

  @Test func `does not retry if the retry delay exceeds every waiting call's deadline`() async throws {
    let busy = Failure.status(503, [.retryAfter: "30"])
    let shop = shop(service.settings(.clientCredentials), .manual, busy)
    let error = await taskError { try await shop.task().deadline(.seconds(10)).run() }
    #expect(error?.code == .authenticationFailed && error?.status == 503 && error?.elapsed == .zero)
    failures.withLock { $0 = [busy] }
    let call = Task { try await shop.task().deadline(.seconds(31)).run() }
    await shop.clock.pass(.seconds(30), sleepers: 2)  // the deadline and the delay
    #expect(try await call.value.status == .ok)
    failures.withLock { $0 = [.status(503, [.retryAfter: "61"])] }
    service.revoke()
    #expect(await taskError { try await shop.task().run() }?.status == 503, "the policy waits up to 60 seconds")
  }

  @Test func `the latest deadline of the waiting calls limits the retry delay`() async throws {
    let gate = Gate()
    service.give("first")
    let shop = VirtualShop(
      configure: { $0.authentication = .oauth2(service.settings(.refreshToken("first"))) },
      answer: { [service, tries] _, request, _ in
        guard request.url == TokenService.url else { return service.answer(request) }
        tries.add()
        guard tries.count == 1 else { return service.answer(request) }
        await gate.wait()
        return .unavailable(request, [.retryAfter: "30"])
      })
    let hasty = Task { try await shop.task().deadline(.seconds(10)).run() }
    await tries.reached(1)
    let patient = Task { try await shop.task().deadline(.seconds(60)).run() }
    #expect(await eventually { shop.moments(containing: "waiting for a new token").count == 2 })
    gate.open()
    await shop.clock.pass(.seconds(10), sleepers: 3)  // two deadlines and the delay
    #expect(await taskError { _ = try await hasty.value }?.code == .timedOut)
    await shop.clock.pass(.seconds(20), sleepers: 2)
    #expect(try await patient.value.status == .ok)
    #expect(tries.count == 2 && service.requests.count == 1)
  }

  @Test(arguments: onceOnly) func `does not retry a token request that no call is waiting for`(grant: OAuth2.Grant)
    async throws
  {
    service.give("first")
    let shop = shop(service.settings(grant), .manual, .status(503, [.retryAfter: "5"]))
    let call = Task { try await shop.task().run() }
    await tries.reached(1)
    #expect(await eventually { !shop.moments(containing: "to retry").isEmpty })
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    await giveWay(20)
    shop.clock.advance(by: .seconds(5))
    #expect(await eventually { shop.manager.callCount == 0 })
    #expect(tries.count == 1)
    #expect(try await shop.task().run().status == .ok, "the grant can still be used")
    #expect(tries.count == 2)
  }

  @Test(arguments: onceOnly + [.clientCredentials], [Failure.status(503), .error(refused)])
  func `the next call after a failure requests a token again`(grant: OAuth2.Grant, failure: Failure) async throws {
    service.give("first")
    let shop = shop(
      service.settings(grant) { $0.retryPolicy = .never }, .manual, failure, failure, failure)
    for _ in 0..<3 { #expect(await taskError { try await shop.task().run() } != nil) }
    #expect(tries.count == 3)
    #expect(try await shop.task().run().status == .ok)
    #expect(shop.clock.now.offset == .zero)
  }
}
