import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// The properties of one request do not affect other requests.
@Suite(.timeLimit(.minutes(1))) struct RequestScopeTests {
  private static func answer(_ text: String, _ status: HTTPStatus = .ok, for request: HTTPRequest) -> HTTPResponse {
    HTTPResponse(
      status, url: request.url, headers: [.contentType: "text/plain"], body: HTTPResponseBody(Data(text.utf8)))
  }

  @Test(arguments: [false, true]) func `a retry sends the same idempotency key`(isShared: Bool) async throws {
    let shop = StubServer(.status(.serviceUnavailable), .status(.ok)) { $0.coalescesRequests = isShared }
    _ = try await PlainTask().on(shop.server).idempotency(.key).downloadData()
    let keys = shop.requests.map { $0.headers[.idempotencyKey] }
    #expect(keys.count == 2 && keys[0] != nil && keys[0] == keys[1], "\(keys)")
  }

  private struct SignInFirst: PerCallStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      var first = request
      first.method = .post
      first.url = .known("https://shop.test/session")
      _ = try await next(first)
      return try await next(request)
    }
  }

  @Test(arguments: [false, true]) func `retries a GET after a step has sent a POST`(hasStep: Bool) async throws {
    let shop = StubServer { if hasStep { $0.perCallSteps = [SignInFirst()] } }
    if hasStep { shop.log.enqueue([.status(.ok)]) }
    shop.log.enqueue([.status(.serviceUnavailable), .status(.ok)])
    let error = await taskError { try await PlainTask().on(shop.server).run() }
    #expect(error == nil, "\(String(describing: error))")
    #expect(shop.requests.count == (hasStep ? 3 : 2))
  }

  @Test(arguments: [false, true]) func `sends nothing from a cancelled task`(isStream: Bool) async throws {
    let shop = VirtualShop { _, request, _ in .ok(request) }
    let work = Task {
      while !Task.isCancelled { await Task.yield() }
      if isStream { _ = try await shop.task().stream() } else { try await shop.task().run() }
    }
    work.cancel()
    await #expect(throws: CancellationError.self) { try await work.value }
    #expect(shop.sentCount == 0)
  }

  private struct Moves: PerCallStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      var request = request
      request.url = .known("https://shop.test/admin/widgets")
      return try await next(request)
    }
  }

  @Test(arguments: [false, true])
  func `caches a response under the account that authenticates the URL chosen by a step`(
    isMoved: Bool
  ) async throws {
    let token = Shared("one")
    let admin = Authentication.bearer { token.withLock { $0 } }
    let shop = VirtualShop(configure: {
      $0.cache = MemoryCache()
      $0.authentication = .firstMatching([admin.forPaths(below: "/admin"), .bearer("public")])
      if isMoved { $0.perCallSteps = [Moves()] }
    }) { _, request, _ in
      HTTPResponse(
        url: request.url, headers: [.cacheControl: "private, max-age=600"],
        body: HTTPResponseBody(Data((request.headers[.authorization] ?? "none").utf8)))
    }
    let task = shop.task(isMoved ? "widgets" : "admin/widgets")
    #expect(String(decoding: try await task.downloadData(), as: UTF8.self) == "Bearer one")
    try await admin.forget()
    token.withLock { $0 = "two" }
    #expect(String(decoding: try await task.downloadData(), as: UTF8.self) == "Bearer two")
  }

  @Test func `the error does not contain the retry refusal of an earlier attempt`() async throws {
    let shop = VirtualShop(configure: {
      $0.preflight = { _, request in request.options.digest = Credential(user: "ann", password: "sesame") }
      $0.retryPolicy = .decided { $0.attempts.count < 2 ? .retry(after: .zero) : .giveUp }
    }) { number, request, _ in
      number == 1
        ? .status(
          401, headers: [.wwwAuthenticate: #"Digest realm="r", nonce="n", qop="auth", algorithm=FOO"#], for: request)
        : .json("[", for: request)
    }
    let error = await taskError { _ = try await GetWidget().on(shop.server).download() }
    #expect(shop.sentCount == 2 && error?.code == .decodingFailed && error?.retryRefusal == nil, "\(error as Any)")
  }

  private struct StandIn: PerAttemptStep {
    let sends: Bool
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      if sends {
        let response = try await next(request)
        guard response.status == .internalServerError else { return response }
      }
      return HTTPResponse(
        url: request.url, headers: [.cacheControl: "max-age=60"], body: HTTPResponseBody(Data("stand-in".utf8)))
    }
  }

  @Test(arguments: [false, true]) func `does not cache a response created by a step`(sends: Bool) async throws {
    let cache = MemoryCache()
    let shop = VirtualShop(configure: {
      $0.cache = cache
      $0.perAttemptSteps = [StandIn(sends: sends)]
    }) { number, request, _ in
      number == 1 ? .status(.internalServerError, for: request) : Self.answer("new", for: request)
    }
    let first = try await shop.task().downloadData()
    #expect(String(decoding: first, as: UTF8.self) == "stand-in")
    #expect(shop.moments(containing: "cache").allSatisfy { !$0.contains("stored") })
    let second = try await shop.task().downloadData()
    #expect(String(decoding: second, as: UTF8.self) == (sends ? "new" : "stand-in"))
    #expect(shop.sentCount == (sends ? 2 : 0))
  }
}
