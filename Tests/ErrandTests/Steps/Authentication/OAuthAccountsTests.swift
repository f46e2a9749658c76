import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// The tokens sent when users, audiences or sign-ins share settings or a store.
@Suite(.timeLimit(.minutes(1))) struct OAuthAccountsTests {
  private let store = MemorySecretStore()
  private let sent = Shared<[[String: String]]>([])
  private let used = Shared<Set<String>>([])

  /// Makes one call per client and returns the tokens that the shop received. The token endpoint names each token after
  /// its request and accepts each code or refresh token only once.
  private func tokens(_ clients: OAuth2...) async throws -> [String] {
    let tokens = Shared<[String]>([])
    for client in clients { try await shop(client, tokens).task().run() }
    return tokens.withLock { $0 }
  }

  private func shop(_ client: OAuth2, _ tokens: Shared<[String]> = Shared([])) -> VirtualShop {
    VirtualShop(
      configure: {
        $0.authentication = .oauth2(client)
        $0.retryPolicy = .never
      },
      answer: { [sent, used] _, request, _ in
        guard request.url == TokenService.url else {
          tokens.withLock { $0.append(request.headers[.authorization]?.replacing("Bearer ", with: "") ?? "-") }
          return .ok(request)
        }
        let form = TokenService.form(request.body.data ?? Data())
        sent.withLock { $0.append(form) }
        let once = form["code"] ?? form["refresh_token"]
        if let once, !used.withLock({ $0.insert(once).inserted }) {
          return .json(#"{"error":"invalid_grant"}"#, status: .badRequest, for: request)
        }
        let whose = once ?? form["username"] ?? form["audience"] ?? form["scope"] ?? "client"
        let body = #"{"access_token":"\#(whose)","expires_in":3600,"refresh_token":"r-\#(whose)"}"#
        return .json(body, for: request)
      })
  }

  /// Creates a client that uses the shared store if `isShared` is true.
  private func client(_ grant: OAuth2.Grant, isShared: Bool = true, _ change: (inout OAuth2) -> Void = { _ in })
    -> OAuth2
  {
    var client = OAuth2(tokenURL: TokenService.url, client: .init(id: "app", secret: "s"), grant: grant)
    if isShared { client.store = store }
    change(&client)
    return client
  }

  @Test func `copied settings do not share a token`() async throws {
    let ann = client(.password(user: "ann", password: "x"), isShared: false)
    var bob = ann
    bob.grant = .password(user: "bob", password: "y")
    #expect(try await tokens(ann, bob, ann) == ["ann", "bob", "ann"])
    #expect(sent.withLock { $0.count } == 3, "each call requests its own token")
  }

  @Test func `different users, audiences and scopes have separate entries in a store`() async throws {
    let billing = client(.clientCredentials) { $0.parameters = ["audience": "billing"] }
    let weather = client(.clientCredentials) { $0.parameters = ["audience": "weather"] }
    #expect(try await tokens(billing, weather, billing) == ["billing", "weather", "billing"])
    let (read, pay) = (
      client(.clientCredentials) { $0.scopes = ["read"] }, client(.clientCredentials) { $0.scopes = ["pay"] }
    )
    #expect(try await tokens(read, pay, read) == ["read", "pay", "read"])
    let (ann, bob) = (client(.password(user: "ann", password: "x")), client(.password(user: "bob", password: "y")))
    #expect(try await tokens(ann, bob, ann) == ["ann", "bob", "ann"])
    #expect(sent.withLock { $0.count } == 6, "each token is requested once")
    #expect(try await tokens(client(.refreshToken("code")), client(.clientCredentials)) == ["code", "client"])
  }

  @Test func `a stored token's name contains no secrets and does not depend on the order of scopes`() {
    let one = client(.password(user: "ann@mail.test", password: "x")) {
      $0.scopes = ["a", "b"]
      $0.parameters = ["assertion": "planted"]
    }
    var other = one
    other.scopes = ["b", "a"]
    other.grant = .password(user: "ann@mail.test", password: "another")
    #expect(one.secretName == other.secretName && one.secretName.contains("app"))
    #expect(!one.secretName.contains("planted") && !one.secretName.contains("ann"))
    other.storeName = "mine"
    #expect(other.secretName == "mine")
    // The scope "a b" differs from the two scopes "a" and "b".
    let (joined, apart) = (
      client(.clientCredentials) { $0.scopes = ["a b"] }, client(.clientCredentials) { $0.scopes = ["a", "b"] }
    )
    #expect(joined.secretName != apart.secretName)
  }

  @Test func `redeems a new code even if a token is stored`() async throws {
    let (ann, bob) = (client(.authorizationCode("ann")), client(.authorizationCode("bob")))
    #expect(try await tokens(ann, bob) == ["ann", "bob"])
    #expect(sent.withLock { $0.map { $0["code"] } } == ["ann", "bob"])
  }

  @Test func `uses the app's new refresh token even if a token is stored`() async throws {
    let (ann, bob) = (client(.refreshToken("ann")), client(.refreshToken("bob")))
    #expect(try await tokens(ann, ann, bob, bob) == ["ann", "ann", "bob", "bob"])
    #expect(sent.withLock { $0.map { $0["refresh_token"] } } == ["ann", "bob"])
  }

  @Test func `does not resend a used code after a restart`() async throws {
    let ann = client(.authorizationCode("ann"))
    #expect(try await tokens(ann, ann, ann) == ["ann", "ann", "ann"])
    #expect(sent.withLock { $0.count } == 1)
    // After a refresh, the stored token still belongs to the same code.
    let (tokens, later) = (Shared<[String]>([]), shop(ann))
    later.clock.advance(by: .seconds(3600))
    try await later.task().run()
    let next = shop(ann, tokens)
    next.clock.advance(by: .seconds(3601))
    try await next.task().run()
    #expect(tokens.withLock { $0 } == ["r-ann"])
    #expect(sent.withLock { $0.map { $0["code"] ?? $0["refresh_token"] } } == ["ann", "r-ann"])
  }

  @Test func `a call with a rejected code does not use another account's token`() async throws {
    let (ann, bob) = (client(.authorizationCode("ann")), client(.authorizationCode("bob")))
    used.withLock { _ = $0.insert("bob") }
    #expect(try await tokens(ann) == ["ann"])
    let shop = shop(bob)
    for wait in [0, 1, 60] {
      shop.clock.advance(by: .seconds(wait))
      #expect(await taskError { try await shop.task().run() }?.code == .signInRequired)
    }
    #expect(shop.sentCount == 1 && sent.withLock { $0.count } == 2, "the rejected code is not sent again")
    #expect(try await tokens(ann) == ["ann"], "Ann's token is still stored")
  }

  @Test func `uses a token stored by the app if the code was already used`() async throws {
    let token = AccessToken("own", issued: Date(), refreshToken: "r-own")
    try await store.setSecret(try JSONEncoder().encode(token), named: "mine")
    used.withLock { _ = $0.insert("code") }
    let client = client(.authorizationCode("code")) { $0.storeName = "mine" }
    #expect(try await tokens(client) == ["own"])
    #expect(try await tokens(self.client(.authorizationCode("new")) { $0.storeName = "mine" }) == ["new"])
  }
}
