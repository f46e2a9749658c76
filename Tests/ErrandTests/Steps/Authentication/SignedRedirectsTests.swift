import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Redirects of authenticated requests.
@Suite(.timeLimit(.minutes(1))) struct SignedRedirectsTests {
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

  @Test func `does not send a token to another origin or after a redirect back to the first origin`() async throws {
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

  @Test func `a 401 after a cross-origin redirect does not refresh the token`() async throws {
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

  @Test func `a 401 after a same-origin redirect refreshes the token`() async throws {
    let (tokens, log) = (NumberedTokens(valid: 2), Shared<[HTTPRequest]>([]))
    let shop = shop(tokens, log) { request in
      request.url.path == "/near"
        ? tokens.answer(request) : .status(302, headers: [.location: "/near"], for: request)
    }
    #expect(try await shop.task().run().status == .ok)
    #expect(tokens.replaced == [1] && log.withLock { $0.map { $0.headers["X-Numbered"] } } == ["1", "1", "2", "2"])
  }

  @Test func `does not resend a redirected POST after a 401`() async throws {
    let (tokens, log) = (NumberedTokens(valid: 2), Shared<[HTTPRequest]>([]))
    let shop = shop(tokens, log) { request in
      request.method == .post
        ? .status(303, headers: [.location: "https://shop.test/widgets"], for: request) : tokens.answer(request)
    }
    #expect(try await shop.task(method: .post).accepting(.all).run().status == .unauthorized)
    #expect(log.withLock { $0.map(\.method) } == [.post, .get])
  }

  @Test func `does not follow redirects of token requests`() async throws {
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

  @Test func `token requests follow the server's address policy`() async throws {
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

  @Test func `token requests neither send nor store cookies`() async throws {
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

  @Test func `drops a token if a redirect leaves the token's paths and does not refresh it after a 401`() async throws {
    let (tokens, log) = (NumberedTokens(), Shared<[HTTPRequest]>([]))
    let shop = VirtualShop(
      configure: { $0.authentication = .custom(tokens).forPaths(below: "/admin") },
      answer: { _, request, _ in
        log.withLock { $0.append(request) }
        return switch request.url.path {
        case "/admin": .status(302, headers: [.location: "/admin/a"], for: request)
        case "/admin/a": .status(302, headers: [.location: "/out"], for: request)
        default: .status(.unauthorized, for: request)
        }
      })
    #expect(try await shop.task("admin").accepting(.all).run().status == .unauthorized)
    #expect(log.withLock { $0.map { $0.headers["X-Numbered"] } } == ["1", "1", nil])
    #expect(tokens.replaced.isEmpty)
  }

  @Test func `drops the token, Digest credentials and server headers if a policy changes the origin`() async throws {
    let (tokens, log) = (NumberedTokens(), Shared<[HTTPRequest]>([]))
    let shop = VirtualShop(
      configure: {
        $0.authentication = .custom(tokens)
        $0.standardHeaders["X-Tenant"] = "7"
        $0.preflight = { _, request in
          request.options.digest = Credential(user: "ann", password: "sesame")
          request.headers["Origin"] = "https://shop.test"
        }
        $0.redirectPolicy = .decide { _, next in
          var next = next
          next.url = .known("https://other.test/x")
          return next
        }
      },
      answer: { _, request, _ in
        log.withLock { $0.append(request) }
        return request.url.path == "/x" ? .ok(request) : .status(302, headers: [.location: "/near"], for: request)
      })
    try await shop.task().run()
    let last = try #require(log.withLock { $0.last })
    for name in ["X-Numbered", "X-Tenant", "Origin"] as [HTTPHeaderName] { #expect(last.headers[name] == nil) }
    #expect(last.options.digest == nil && log.withLock { $0.first }?.options.digest != nil)
  }

  // RFC 9110 §15.4, item 2.4.
  @Test func `does not send validators to the target of a redirect`() async throws {
    let log = Shared<[HTTPRequest]>([])
    let shop = VirtualShop(answer: { _, request, _ in
      log.withLock { $0.append(request) }
      return switch request.url.path {
      case "/widgets": .status(302, headers: [.location: "/near"], for: request)
      case "/near": .status(302, headers: [.location: "https://other.test/x"], for: request)
      default: .ok(request)
      }
    })
    let url = URL.known("https://shop.test/widgets")
    try await URLTask(url, headers: ["If-None-Match": "\"a\""]).on(shop.server).run()
    #expect(log.withLock { $0.map { $0.headers[.ifNoneMatch] } } == ["\"a\"", nil, nil])
  }

  @Test func `forget() changes an anonymous account but not a named account`() async throws {
    let log = Shared<[HTTPRequest]>([])
    let (anonymous, named) = (
      Authentication.custom(NumberedTokens()), Authentication.custom(NumberedTokens()).forAccount("ann")
    )
    let shop = VirtualShop(answer: { _, request, _ in
      log.withLock { $0.append(request) }
      return .ok(request)
    })
    for _ in 0..<2 {
      for authentication in [anonymous, named] {
        try await shop.task().authenticated(authentication).run()
        try await authentication.forget()
      }
    }
    let accounts = log.withLock { $0.map(\.options.account) }
    #expect(accounts.count == 4 && accounts[0] != accounts[2] && accounts[1] == accounts[3])
  }
}
