import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Tokens of OAuth 2 in a store that outlives the process, and is shared.
@Suite(.timeLimit(.minutes(10))) struct StoredTokensTests {
  private let service = TokenService()

  @Test func `a token is stored before it is used, and found by the next process`() async throws {
    let store = MemorySecretStore()
    service.give("first")
    let settings = service.settings(.refreshToken("first")) { $0.store = store }
    try await service.shop(settings).task().run()
    let stored = try #require(try await store.secret(named: "oauth2 app https://auth.test/token"))
    let token = try JSONDecoder().decode(AccessToken.self, from: stored)
    #expect(token.value == "t1" && token.refreshToken == "r1")
    let next = service.shop(settings)
    try await next.task().run()
    #expect(service.requests.count == 1)
    service.revoke()
    try await next.task().run()
    #expect(service.requests.map { $0["refresh_token"] } == ["first", "r1"])
  }

  @Test func `a token that another client of the store has got is taken, and none is requested`() async throws {
    let store = MemorySecretStore()
    service.give("first")
    let settings = service.settings(.refreshToken("first")) { $0.store = store }
    let (mine, others) = (service.shop(settings), service.shop(settings))
    try await mine.task().run()
    try await others.task().run()
    service.revoke()
    mine.clock.advance(by: .seconds(1))
    try await mine.task().run()
    try await others.task().run()
    #expect(service.requests.count == 2 && service.reused == 0)
  }

  private struct FullStore: SecretStore {
    struct Full: Error {}
    func secret(named name: String) async throws -> Data? { nil }
    func setSecret(_ secret: Data?, named name: String) async throws { throw Full() }
  }

  @Test func `a token that cannot be stored is used all the same, and the log says so`() async throws {
    let lines = Shared<[String]>([])
    service.give("first")
    let settings = service.settings(.refreshToken("first")) { $0.store = FullStore() }
    let shop = service.shop(settings, log: TextSink { line in lines.withLock { $0.append(line) } })
    try await shop.task().run()
    service.revoke()
    try await shop.task().run()
    #expect(service.requests.map { $0["refresh_token"] } == ["first", "r1"])
    let text = lines.withLock { $0 }.joined()
    #expect(text.contains("is not stored") && !text.contains("r1") && !text.contains("first"))
  }

  @Test func `forgetting removes the token from the store`() async throws {
    let store = MemorySecretStore()
    let authentication = Authentication.oauth2(
      service.settings(.clientCredentials) {
        $0.store = store
        $0.storeName = "ann"
      })
    let shop = VirtualShop(
      configure: { $0.authentication = authentication }, answer: { [service] _, request, _ in service.answer(request) })
    try await shop.task().run()
    #expect(try await store.secret(named: "ann") != nil)
    try await authentication.forget()
    #expect(try await store.secret(named: "ann") == nil)
    try await shop.task().run()
    #expect(service.requests.count == 2)
  }
}
