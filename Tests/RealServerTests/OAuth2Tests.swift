#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// OAuth 2 grants, tested with a third-party server.
  @Suite(.enabled(if: AuthlibServer.isExpected, "Authlib is not installed"), .timeLimit(.minutes(3)))
  struct OAuth2Tests {
    private let authlib: AuthlibServer

    init() async throws { authlib = try await AuthlibServer() }

    private func settings(_ grant: OAuth2.Grant, isPublic: Bool = false) -> OAuth2 {
      let client =
        isPublic ? OAuth2.Client(id: "app") : OAuth2.Client(id: "shop", secret: "s3:cret %")
      return OAuth2(tokenURL: authlib.url("token"), client: client, grant: grant)
    }

    private func shop(_ settings: OAuth2) -> Server {
      Server(authlib.url, environment: [:]) { $0.authentication = .oauth2(settings) }
    }

    private func widget(_ shop: Server) async throws -> String {
      String(decoding: try await PlainWidget().on(shop).downloadData(), as: UTF8.self)
        .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private struct PlainWidget: ServerGETTask { var path: String { "widgets" } }

    @Test func `sends the client credentials in the header or the body`() async throws {
      for placement in [OAuth2.Client.Placement.header, .body] {
        var settings = settings(.clientCredentials)
        settings.client = .init(id: "shop", secret: "s3:cret %", placement: placement)
        let shop = shop(settings)
        #expect(try await widget(shop) == #"{"id":7}"#)
        try await authlib.expire()
        #expect(try await widget(shop) == #"{"id":7}"#)
      }
      #expect(try await authlib.seen().grants == Array(repeating: "client_credentials", count: 4))
    }

    @Test func `a wrong secret throws .authenticationFailed`() async throws {
      var settings = settings(.clientCredentials)
      settings.client = .init(id: "shop", secret: "wrong")
      let error = await #expect(throws: TaskError.self) { try await widget(shop(settings)) }
      #expect(error?.code == .authenticationFailed && (error?.underlying as? OAuth2.Refusal)?.code == "invalid_client")
    }

    @Test func `renews a password grant with refresh tokens and uses no refresh token twice`() async throws {
      let shop = shop(settings(.password(user: "ann", password: "open sesame")))
      for round in 1...4 {
        let widgets = try await withThrowingTaskGroup(of: String.self) { group in
          for _ in 0..<8 { group.addTask { try await widget(shop) } }
          return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(widgets == Array(repeating: #"{"id":7}"#, count: 8))
        let seen = try await authlib.seen()
        #expect(seen.grants.count == round && seen.reused == 0)
        try await authlib.expire()
      }
      #expect(try await authlib.seen().grants == ["password"] + Array(repeating: "refresh_token", count: 3))
    }

    @Test func `a used refresh token throws .signInRequired`() async throws {
      let store = MemorySecretStore()
      var first = settings(.password(user: "ann", password: "open sesame"))
      (first.store, first.storeName) = (store, "ann")
      #expect(try await widget(shop(first)) == #"{"id":7}"#)
      let stored = try #require(try await store.secret(named: "ann"))
      let token = try #require(try JSONDecoder().decode(AccessToken.self, from: stored).refreshToken)
      #expect(try await widget(shop(settings(.refreshToken(token)))) == #"{"id":7}"#)
      let error = await #expect(throws: TaskError.self) { try await widget(shop(settings(.refreshToken(token)))) }
      #expect(error?.code == .signInRequired && (error?.underlying as? OAuth2.Refusal)?.code == "invalid_grant")
    }

    @Test func `redeems an authorization code only with its PKCE verifier`() async throws {
      let (pkce, redirect) = (OAuth2.PKCE(), try #require(URL(string: "http://127.0.0.1/back")))
      var settings = settings(.clientCredentials, isPublic: true)
      settings.scopes = ["widgets"]
      let page = try settings.authorizationURL(
        authlib.url("authorize"), redirectURL: redirect, state: "s t", pkce: pkce)
      let back = try #require(try await authlib.signIn(on: page))
      let query = try #require(URLComponents(url: back, resolvingAgainstBaseURL: false)?.queryItems)
      #expect(query.first { $0.name == "state" }?.value?.replacingOccurrences(of: "+", with: " ") == "s t")
      let code = try #require(query.first { $0.name == "code" }?.value)
      settings.grant = .authorizationCode(code, redirectURL: redirect, pkce: OAuth2.PKCE())
      await #expect(throws: TaskError.self) { try await widget(shop(settings)) }
      settings.grant = .authorizationCode(code, redirectURL: redirect, pkce: pkce)
      #expect(try await widget(shop(settings)) == #"{"id":7}"#)
    }

    @Test func `obtains a token with a device code after the user approves it`() async throws {
      let codes = AsyncStream<String>.makeStream()
      let shop = shop(
        settings(.deviceCode(at: authlib.url("device")) { codes.continuation.yield($0.userCode) }, isPublic: true))
      let call = Task { try await widget(shop) }
      for await code in codes.stream {
        try await authlib.approve(code)
        break
      }
      #expect(try await call.value == #"{"id":7}"#)
    }
  }
#endif
