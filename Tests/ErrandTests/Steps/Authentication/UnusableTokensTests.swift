import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Tokens from any source that can't be sent in a header.
@Suite(.timeLimit(.minutes(1))) struct UnusableTokensTests {
  /// Creates a shop that accepts any token and records it.
  private func shop(_ authentication: Authentication, _ sent: Shared<[String?]>) -> VirtualShop {
    VirtualShop(
      configure: {
        $0.authentication = authentication
        $0.retryPolicy = .never
      },
      answer: { _, request, _ in
        if request.url == TokenService.url { return .json(#"{"access_token":"new"}"#, for: request) }
        sent.withLock { $0.append(request.headers[.authorization] ?? request.headers["X-Token"]) }
        return .ok(request)
      })
  }

  @Test(arguments: ["", "a b", "a\r\nX: 1"])
  func `calls the token closure again after the usual delay if its token was invalid`(_ bad: String) async throws {
    let (token, asked, sent) = (Shared(bad), Counter(), Shared<[String?]>([]))
    let shop = shop(
      .bearer {
        asked.add()
        return token.withLock { $0 }
      }, sent)
    #expect(await taskError { try await shop.task().run() }?.code == .badRequest)
    token.withLock { $0 = "good" }
    #expect(
      await taskError { try await shop.task().run() }?.code == .badRequest && asked.count == 1,
      "the closure is not called during the pause")
    shop.clock.advance(by: .seconds(1))
    try await shop.task().run()
    try await shop.task().run()
    #expect(sent.withLock { $0 } == ["Bearer good", "Bearer good"] && asked.count == 2)
  }

  @Test func `keeps a valid token if the refresh returns an invalid token`() async throws {
    struct Failing: Authenticator {
      let end: Shared<Date?>
      func storedToken() async throws -> String? { "good" }
      func freshness(of token: String, at now: Date) -> TokenFreshness {
        end.withLock { $0 } == nil ? .good : .expiring
      }
      func apply(_ token: String, to request: inout HTTPRequest) throws { try request.setBearer(token) }
      func refresh(_ token: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
        ""
      }
    }
    let (end, sent) = (Shared<Date?>(nil), Shared<[String?]>([]))
    let shop = shop(.custom(Failing(end: end)), sent)
    try await shop.task().run()
    end.withLock { $0 = Date() }
    for _ in 0..<2 { try await shop.task().run() }
    #expect(sent.withLock { $0 } == Array(repeating: "Bearer good", count: 3))
  }

  @Test func `replaces a stored token that is invalid in a header`() async throws {
    for bad in ["", "a\nb"] {
      let (store, sent) = (MemorySecretStore(), Shared<[String?]>([]))
      let token = AccessToken(bad, issued: .distantPast, expiry: .distantFuture)
      try await store.setSecret(try JSONEncoder().encode(token), named: "mine")
      var settings = OAuth2(
        tokenURL: TokenService.url, client: .init(id: "app", secret: "s"), grant: .clientCredentials)
      (settings.store, settings.storeName) = (store, "mine")
      try await shop(.oauth2(settings), sent).task().run()
      #expect(sent.withLock { $0 } == ["Bearer new"])
    }
  }

  @Test func `refreshes a stored token that its authenticator can't apply`() async throws {
    struct Empty: Error {}
    struct Key: Authenticator {
      let isRefreshable: Bool
      func storedToken() async throws -> String? { "" }
      func apply(_ token: String, to request: inout HTTPRequest) throws {
        if token.isEmpty { throw Empty() }
        request.headers["X-Token"] = token
      }
      func refresh(_ token: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
        "after '\(token ?? "none")'"
      }
    }
    let sent = Shared<[String?]>([])
    try await shop(.custom(Key(isRefreshable: true)), sent).task().run()
    #expect(sent.withLock { $0 } == ["after ''"])
    // Without a usable token, the request is not sent.
    let fixed = shop(.custom(Key(isRefreshable: false)), sent)
    for _ in 0..<2 { await #expect(throws: Empty.self) { try await fixed.task().run() } }
    #expect(fixed.sentCount == 0)
  }

  @Test(arguments: [true, false])
  func `keeps a token even if the first request can't use it`(isStored: Bool) async throws {
    struct Body: Error {}
    struct Bodiless: Authenticator {
      let stored: String?
      let asked = Counter()
      func storedToken() async throws -> String? { stored }
      func apply(_ token: String, to request: inout HTTPRequest) throws {
        if request.method == .post { throw Body() }
        request.headers["X-Token"] = token
      }
      func refresh(_ token: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
        asked.add()
        return "new"
      }
    }
    let (method, sent) = (Bodiless(stored: isStored ? "old" : nil), Shared<[String?]>([]))
    let shop = shop(.custom(method), sent)
    await #expect(throws: Body.self) { try await shop.task(method: .post).run() }
    try await shop.task().run()
    #expect(sent.withLock { $0 } == [isStored ? "old" : "new"] && method.asked.count == (isStored ? 0 : 1))
  }
}
