import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Requests that were signed in, and are redirected.
@Suite(.timeLimit(.minutes(10))) struct SignedRedirectsTests {
  private static let elsewhere = "https://other.test/widgets"

  private func shop(
    _ tokens: NumberedTokens, _ log: Shared<[HTTPRequest]>,
    _ answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse
  ) -> VirtualShop {
    VirtualShop(
      configure: { $0.authentication = .custom(tokens) },
      answer: { _, request, _ in
        log.withLock { $0.append(request) }
        return answer(request)
      })
  }

  @Test func `a token stays with its origin, whatever field it is in, and does not come back`() async throws {
    let (tokens, log) = (NumberedTokens(), Shared<[HTTPRequest]>([]))
    let shop = shop(tokens, log) { request in
      switch (request.url.host(), request.url.path) {
      case ("other.test", _): .status(302, headers: [.location: "https://shop.test/back"], for: request)
      case (_, "/back"): .ok(request)
      case (_, "/near"): .status(302, headers: [.location: Self.elsewhere], for: request)
      default: .status(302, headers: [.location: "/near"], for: request)
      }
    }
    #expect(try await shop.task().run().status == .ok)
    #expect(log.withLock { $0.map { $0.headers["X-Numbered"] } } == ["1", "1", nil, nil])
  }

  @Test func `a 401 at the end of redirects that left the origin says nothing of the token`() async throws {
    let (tokens, log) = (NumberedTokens(), Shared<[HTTPRequest]>([]))
    let shop = shop(tokens, log) { request in
      switch (request.url.host(), request.url.path) {
      case ("other.test", _): .status(302, headers: [.location: "https://shop.test/back"], for: request)
      case (_, "/back"): .status(.unauthorized, for: request)
      default: .status(302, headers: [.location: Self.elsewhere], for: request)
      }
    }
    #expect(try await shop.task().accepting(.all).run().status == .unauthorized)
    #expect(tokens.replaced.isEmpty && shop.sentCount == 3)
  }

  @Test func `a 401 at the end of redirects within the origin has the token replaced`() async throws {
    let (tokens, log) = (NumberedTokens(valid: 2), Shared<[HTTPRequest]>([]))
    let shop = shop(tokens, log) { request in
      request.url.path == "/near"
        ? tokens.answer(request) : .status(302, headers: [.location: "/near"], for: request)
    }
    #expect(try await shop.task().run().status == .ok)
    #expect(tokens.replaced == [1] && log.withLock { $0.map { $0.headers["X-Numbered"] } } == ["1", "1", "2", "2"])
  }

  @Test func `a POST that was answered with a redirect to itself is not sent again for a 401 after it`() async throws {
    let (tokens, log) = (NumberedTokens(valid: 2), Shared<[HTTPRequest]>([]))
    let shop = shop(tokens, log) { request in
      request.method == .post
        ? .status(303, headers: [.location: "https://shop.test/widgets"], for: request) : tokens.answer(request)
    }
    #expect(try await shop.task(method: .post).accepting(.all).run().status == .unauthorized)
    #expect(log.withLock { $0.map(\.method) } == [.post, .get])
  }

  @Test func `the remote that gives tokens is not followed elsewhere`() async throws {
    let log = Shared<[HTTPRequest]>([])
    let shop = VirtualShop(
      configure: {
        $0.authentication = .oauth2(
          OAuth2(
            tokenURL: TokenService.url, client: .init(id: "app", secret: "s3cret"), grant: .clientCredentials))
      },
      answer: { _, request, _ in
        log.withLock { $0.append(request) }
        return .status(307, headers: [.location: "https://auth.test/elsewhere"], for: request)
      })
    let error = await taskError { try await shop.task().run() }
    #expect(error?.code == .authenticationFailed)
    #expect(log.withLock { $0.map(\.url) } == [TokenService.url])
  }

  @Test func `requests for tokens keep to the addresses that the server may connect to`() async throws {
    let log = Shared<[HTTPRequest]>([])
    let shop = VirtualShop(
      configure: {
        $0.addressPolicy = .publicOnly
        $0.authentication = .oauth2(
          OAuth2(
            tokenURL: TokenService.url, client: .init(id: "app", secret: "s3cret"), grant: .clientCredentials))
      },
      answer: { _, request, _ in
        log.withLock { $0.append(request) }
        return .ok(request)
      })
    let error = await taskError { try await shop.task().run() }
    #expect(error?.code == .authenticationFailed)
    #expect(log.withLock { $0.map(\.options.addressPolicy.allowsAll) } == [false])
  }

  @Test func `requests for tokens send no cookies, and keep none`() async throws {
    let log = Shared<[HTTPRequest]>([])
    let jar = CookieJar()
    try jar.set("a=b", from: TokenService.url)
    let shop = VirtualShop(
      configure: {
        $0.cookiePolicy = .shared(jar)
        $0.authentication = .oauth2(
          OAuth2(
            tokenURL: TokenService.url, client: .init(id: "app", secret: "s3cret"), grant: .clientCredentials))
      },
      answer: { _, request, _ in
        log.withLock { $0.append(request) }
        let cookie: HTTPHeaders = ["Set-Cookie": "c=d"]
        if request.url != TokenService.url { return .status(.ok, headers: cookie, for: request) }
        var token = HTTPResponse.json(#"{"access_token":"t","token_type":"Bearer"}"#, for: request)
        token.headers["Set-Cookie"] = "e=f"
        return token
      })
    try await shop.task().run()
    #expect(log.withLock { $0.map { $0.headers[.cookie] } } == [nil, nil])
    #expect(jar.cookies.map(\.name) == ["a", "c"])
  }
}
