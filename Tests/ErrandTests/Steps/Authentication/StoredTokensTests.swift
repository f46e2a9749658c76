import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// OAuth 2 tokens in a shared, persistent store.
@Suite(.timeLimit(.minutes(1))) struct StoredTokensTests {
  private let service = TokenService()

  @Test func `stores a token for the next process`() async throws {
    let store = MemorySecretStore()
    service.give("first")
    let settings = service.settings(.refreshToken("first")) { $0.store = store }
    try await service.shop(settings).task().run()
    let stored = try #require(try await store.secret(named: settings.secretName))
    let token = try JSONDecoder().decode(AccessToken.self, from: stored)
    #expect(token.value == "t1" && token.refreshToken == "r1")
    let next = service.shop(settings)
    try await next.task().run()
    #expect(service.requests.count == 1)
    service.revoke()
    try await next.task().run()
    #expect(service.requests.map { $0["refresh_token"] } == ["first", "r1"])
  }

  @Test func `uses a token obtained by another client of the same store`() async throws {
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

  /// A store whose next reads return the old value, as if another process had not written the new value yet.
  private struct LateStore: SecretStore {
    let store = MemorySecretStore()
    let old = Shared<Data?>(nil)
    /// The number of reads that return the old value.
    let readers = Shared(1)
    func secret(named name: String) async throws -> Data? {
      let old = old.withLock { old in
        let isLast = readers.withLock { readers in
          readers -= 1
          return readers <= 0
        }
        defer { if isLast { old = nil } }
        return old
      }
      if let old { return old }
      return try await store.secret(named: name)
    }
    func setSecret(_ secret: Data?, named name: String) async throws { try await store.setSecret(secret, named: name) }
  }

  @Test func `uses the stored token if another process has used the refresh token`() async throws {
    let (store, late) = (MemorySecretStore(), LateStore())
    let grant = OAuth2.Grant.refreshToken("first")
    let name = service.settings(grant).secretName
    service.give("first")
    try await service.shop(service.settings(grant) { $0.store = store }).task().run()
    let before = try #require(try await store.secret(named: name))
    try await late.setSecret(before, named: name)
    let mine = service.shop(service.settings(grant) { $0.store = late })
    try await mine.task().run()
    service.revoke()
    let theirs = service.shop(service.settings(grant) { $0.store = store })
    theirs.clock.advance(by: .seconds(1))
    try await theirs.task().run()
    try await late.setSecret(try await store.secret(named: name), named: name)
    late.old.withLock { $0 = before }
    mine.clock.advance(by: .seconds(1))
    try await mine.task().run()
    #expect(service.requests.compactMap { $0["refresh_token"] } == ["first", "r1", "r1"] && service.reused == 1)
  }

  @Test func `does not resend a grant that another process has used`() async throws {
    let (store, late) = (MemorySecretStore(), LateStore())
    let name = service.settings(.authorizationCode("c0de")).secretName
    let mine = service.shop(service.settings(.authorizationCode("c0de")) { $0.store = store })
    try await mine.task().run()
    let before = try #require(try await store.secret(named: name))
    // The token was refreshed without a new refresh token and has expired. Its old refresh token is now rejected.
    var renewed = try JSONDecoder().decode(AccessToken.self, from: before)
    renewed.issued += 1
    renewed.expiry = renewed.issued
    try await late.setSecret(try JSONEncoder().encode(renewed), named: name)
    late.old.withLock { $0 = before }
    late.readers.withLock { $0 = 2 }  // one read when the call starts, and one before it sends the refresh token
    service.revoke()
    service.revokeRefreshTokens()
    let theirs = service.shop(service.settings(.authorizationCode("c0de")) { $0.store = late })
    theirs.clock.advance(by: .seconds(2))
    let error = try #require(await taskError { try await theirs.task().run() })
    #expect(error.code == .signInRequired, "\(error)")
    #expect(service.grants.count { $0 == "authorization_code" } == 1, "\(service.grants)")
  }

  @Test func `falls back to the grant if the stored refresh token is rejected too`() async throws {
    let (store, late) = (MemorySecretStore(), LateStore())
    let grant = OAuth2.Grant.password(user: "ann", password: "pw")
    let name = service.settings(grant).secretName
    let mine = service.shop(service.settings(grant) { $0.store = late })
    try await mine.task().run()
    let before = try #require(try await late.secret(named: name))
    var token = try JSONDecoder().decode(AccessToken.self, from: before)
    token.refreshToken = "stolen"
    token.issued += 1
    token.expiry = token.issued
    try await late.setSecret(try JSONEncoder().encode(token), named: name)
    try await store.setSecret(before, named: name)
    service.revoke()
    service.revokeRefreshTokens()
    late.old.withLock { $0 = before }
    mine.clock.advance(by: .seconds(2))
    try await mine.task().run()
    #expect(
      service.requests.compactMap { $0["refresh_token"] } == ["r1", "stolen"] && service.grants.last == "password")
  }

  private struct FullStore: SecretStore {
    struct Full: Error {}
    func secret(named name: String) async throws -> Data? { nil }
    func setSecret(_ secret: Data?, named name: String) async throws { throw Full() }
  }

  @Test func `uses a token that can't be stored and logs the failure`() async throws {
    let lines = Shared<[String]>([])
    service.give("first")
    let settings = service.settings(.refreshToken("first")) { $0.store = FullStore() }
    let shop = service.shop(settings, log: LogOutput { line in lines.withLock { $0.append(line) } })
    try await shop.task().run()
    service.revoke()
    try await shop.task().run()
    #expect(service.requests.map { $0["refresh_token"] } == ["first", "r1"])
    let text = lines.withLock { $0 }.joined()
    #expect(text.contains("can't store") && !text.contains("r1") && !text.contains("first"))
  }

  /// A store whose removals wait for a gate.
  private struct SlowStore: SecretStore {
    let store = MemorySecretStore()
    let gate = Gate()
    let asked = Counter()

    func secret(named name: String) async throws -> Data? { try await store.secret(named: name) }

    func setSecret(_ secret: Data?, named name: String) async throws {
      if secret == nil {
        asked.add()
        await gate.wait()
      }
      try await store.setSecret(secret, named: name)
    }
  }

  @Test func `a call made during forget() does not restore the old token`() async throws {
    let store = SlowStore()
    let authentication = Authentication.oauth2(
      service.settings(.clientCredentials) {
        $0.store = store
        $0.storeName = "ann"
      })
    let sent = Shared<[String?]>([])
    let shop = VirtualShop(
      configure: { $0.authentication = authentication },
      answer: { [service] _, request, _ in
        if request.url != TokenService.url { sent.withLock { $0.append(request.headers[.authorization]) } }
        return service.answer(request)
      })
    try await shop.task().run()
    let forgetting = Task { try await authentication.forget() }
    await store.asked.reached(1)
    let meanwhile = Task { try await shop.task().run() }
    #expect(await eventually { shop.manager.callCount == 1 })
    store.gate.open()
    try await forgetting.value
    _ = try await meanwhile.value
    try await shop.task().run()
    #expect(sent.withLock { $0 } == ["Bearer t1", "Bearer t2", "Bearer t2"] && service.requests.count == 2)
    let kept = try #require(try await store.secret(named: "ann"))
    #expect(try JSONDecoder().decode(AccessToken.self, from: kept).value == "t2")
  }

  /// A store whose writes wait for a gate, even if they are cancelled.
  private struct LastingStore: SecretStore {
    let store = MemorySecretStore()
    let gate = Gate()
    let asked = Counter()
    let cancelled = Counter()

    func secret(named name: String) async throws -> Data? { try await store.secret(named: name) }

    func setSecret(_ secret: Data?, named name: String) async throws {
      asked.add()
      await withTaskCancellationHandler {
        await gate.wait()
      } onCancel: {
        cancelled.add()
      }
      try await store.setSecret(secret, named: name)
    }
  }

  @Test func `a call that waits for a token during forget() fails, and a later call gets a new token`() async throws {
    let store = LastingStore()
    let authentication = Authentication.oauth2(service.settings(.clientCredentials) { $0.store = store })
    let sent = Shared<[String?]>([])
    let shop = VirtualShop(
      configure: {
        $0.authentication = authentication
        $0.cache = MemoryCache()
      },
      answer: { [service] _, request, _ in
        if request.url == TokenService.url { return service.answer(request) }
        sent.withLock { $0.append(request.headers[.authorization]) }
        return HTTPResponse(.ok, url: request.url, headers: ["Cache-Control": "private, max-age=600"])
      })
    let first = Task { await taskError { try await shop.task("first").run() } }
    await store.asked.reached(1)
    let forgetting = Task { try await authentication.forget() }
    await store.cancelled.reached(1)
    let meanwhile = Task { try await shop.task().run() }
    #expect(await eventually { shop.moments(containing: "waiting for a new token").count == 2 })
    store.gate.open()
    #expect(await first.value?.code == .authenticationFailed)
    _ = try await (meanwhile.value, forgetting.value)
    try await shop.task().run()
    #expect(sent.withLock { $0 } == ["Bearer t2"], "the response to the request with the new token is cached")
  }

  @Test func `concurrent calls and forget() do not deadlock`() async throws {
    let authentication = Authentication.oauth2(service.settings(.clientCredentials) { $0.store = MemorySecretStore() })
    let shop = VirtualShop(
      configure: { $0.authentication = authentication }, answer: { [service] _, request, _ in service.answer(request) })
    for _ in 0..<300 {
      await withTaskGroup { group in
        for _ in 0..<8 {
          group.addTask { _ = try? await shop.task().run() }
          group.addTask { try? await authentication.forget() }
        }
      }
    }
    try await authentication.forget()
    try await shop.task().run()
  }

  /// Notifies the server on sign-out.
  private struct Leaving: Authenticator {
    let server: Shared<Server?>
    let left: Counter
    func storedToken() async throws -> Int? { nil }
    func apply(_ token: Int, to request: inout HTTPRequest) throws { request.headers["X-Token"] = "\(token)" }
    func refresh(_ token: Int?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> Int? { 1 }
    func forget() async throws {
      guard let server = server.withLock({ $0 }) else { return }
      try await PlainTask().on(server).run()
      left.add()
    }
  }

  @Test func `a call made by forget() is not authenticated`() async throws {
    let (server, left, tokens) = (Shared<Server?>(nil), Counter(), Shared<[String?]>([]))
    let authentication = Authentication.custom(Leaving(server: server, left: left))
    let shop = VirtualShop(
      configure: { $0.authentication = authentication },
      answer: { _, request, _ in
        tokens.withLock { $0.append(request.headers["X-Token"]) }
        return .ok(request)
      })
    server.withLock { $0 = shop.server }
    try await shop.task().run()
    try await authentication.forget()
    #expect(left.count == 1 && tokens.withLock { $0 } == ["1", nil])
  }

  @Test func `forget() removes the token from the store`() async throws {
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
