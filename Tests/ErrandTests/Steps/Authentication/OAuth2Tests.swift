import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// The grants in RFC 6749, with an authorization server that rotates refresh tokens.
@Suite(.timeLimit(.minutes(1))) struct OAuth2Tests {
  private let service = TokenService()

  @Test func `requests one client-credentials token with a form-encoded Basic header (§2.3.1)`() async throws {
    let shop = service.shop(service.settings(.clientCredentials, secret: "a:b %") { $0.scopes = ["read", "write"] })
    for _ in 0..<3 { try await shop.task().run() }
    #expect(service.requests == [["grant_type": "client_credentials", "scope": "read write"]])
    let basic = "Basic " + Data("app:a%3Ab%20%25".utf8).base64EncodedString()
    #expect(service.headers[0][.authorization] == basic && service.headers[0][.accept] == "application/json")
    #expect(service.headers[0][.contentType] == "application/x-www-form-urlencoded")
  }

  @Test func `sends client credentials in the body, and only the client ID for a public client`() async throws {
    try await service.shop(service.settings(.clientCredentials, placement: .body)).task().run()
    try await service.shop(service.settings(.clientCredentials, secret: nil)).task().run()
    #expect(service.requests[0]["client_id"] == "app" && service.requests[0]["client_secret"] == "s3cret")
    #expect(service.requests[1]["client_id"] == "app" && service.requests[1]["client_secret"] == nil)
    #expect(service.headers.allSatisfy { $0[.authorization] == nil })
  }

  @Test func `adds extra parameters and headers to a token request`() async throws {
    let settings = service.settings(.clientCredentials) {
      $0.parameters = ["audience": "https://shop.test"]
      $0.headers = ["X-Tenant": "1"]
    }
    try await service.shop(settings).task().run()
    #expect(service.requests[0]["audience"] == "https://shop.test" && service.headers[0]["X-Tenant"] == "1")
  }

  @Test func `falls back to the password grant if the refresh token is rejected`() async throws {
    let shop = service.shop(service.settings(.password(user: "ann", password: "pw&")))
    try await shop.task().run()
    service.revoke()
    try await shop.task().run()
    service.revoke()
    service.revokeRefreshTokens()
    try await shop.task().run()
    #expect(service.grants == ["password", "refresh_token", "refresh_token", "password"])
    #expect(service.requests[0]["username"] == "ann" && service.requests[0]["password"] == "pw&")
  }

  @Test func `never sends a rotated refresh token twice, even with concurrent calls`() async throws {
    service.give("first")
    let shop = service.shop(service.settings(.refreshToken("first")))
    for round in 1...20 {
      let calls = (0..<20).map { _ in Task { try await shop.task(method: .post).run().status } }
      for call in calls { #expect(try await call.value == .ok) }
      #expect(service.requests.count == round)
      if round.isMultiple(of: 2) { service.revoke() } else { shop.clock.advance(by: .seconds(3600)) }
    }
    let sent = service.requests.compactMap { $0["refresh_token"] }
    #expect(Set(sent).count == sent.count && sent.first == "first" && service.reused == 0)
  }

  @Test func `keeps the refresh token if the server does not rotate it (§6)`() async throws {
    let settings = service.settings(.refreshToken("forever")) { settings in
      settings.tokenParser = { _, _, now in AccessToken("t1", issued: now, expiry: now.addingTimeInterval(10)) }
    }
    service.give("forever")
    let shop = service.shop(settings)
    _ = await taskError { try await shop.task().run() }
    shop.clock.advance(by: .seconds(10))
    _ = await taskError { try await shop.task().run() }
    #expect(service.requests.map { $0["refresh_token"] } == ["forever", "forever"])
  }

  @Test func `throws .signInRequired and does not resend a rejected refresh token`() async throws {
    let shop = service.shop(service.settings(.refreshToken("gone")))
    for wait in [0, 1, 60, 3600] {
      shop.clock.advance(by: .seconds(wait))
      let error = try #require(await taskError { try await shop.task().run() })
      #expect(error.code == .signInRequired && error.attempts.count == 1, "\(error)")
    }
    #expect(service.requests.count == 1 && shop.sentCount == 1)
    let error = try #require(
      await taskError { try await service.shop(service.settings(.refreshToken("gone"))).task().run() })
    #expect((error.underlying as? OAuth2.Refusal)?.code == "invalid_grant")
    #expect("\(error)".hasPrefix("GET https://shop.test/"), "\(error)")
    #expect(error.reason.contains("sign in again") && error.reason.contains("it was used, or is none"))
  }

  @Test(arguments: ["task", "cancelAll"], [OAuth2.Grant.refreshToken("first"), .authorizationCode("c0de")])
  func `keeps the new token if the caller is cancelled during the token request`(
    way: String, grant: OAuth2.Grant
  ) async throws {
    let (gate, asked) = (Gate(), Counter())
    service.give("first")
    let shop = VirtualShop(
      configure: { $0.authentication = .oauth2(service.settings(grant)) },
      answer: { [service] _, request, _ in
        let answer = service.answer(request)
        if request.url == TokenService.url {
          asked.add()
          await gate.wait()
        }
        return answer
      })
    let call = Task { try await shop.task().run() }
    await asked.reached(1)
    if way == "task" { call.cancel() } else { #expect(await shop.manager.cancelAll() == 1) }
    await #expect(throws: CancellationError.self) { try await call.value }
    gate.open()
    #expect(try await shop.task().run().status == .ok)
    #expect(service.requests.count == 1 && service.reused == 0, "the token that arrived after the cancellation is used")
    #expect(await eventually { shop.manager.callCount == 0 })
  }

  @Test func `redeems a code once, with its PKCE verifier and redirect URL (RFC 7636 §4.5)`() async throws {
    let pkce = OAuth2.PKCE(verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
    #expect(pkce.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "example from RFC 7636, appendix B")
    #expect(OAuth2.PKCE().verifier.count == 64 && OAuth2.PKCE() != OAuth2.PKCE())
    let redirect = URL.known("https://app.test/back")
    let shop = service.shop(
      service.settings(.authorizationCode("c0de", redirectURL: redirect, pkce: pkce), secret: nil))
    try await shop.task().run()
    service.revoke()
    try await shop.task().run()
    #expect(service.grants == ["authorization_code", "refresh_token"])
    let expected = [
      "grant_type": "authorization_code", "code": "c0de", "redirect_uri": "https://app.test/back",
      "code_verifier": pkce.verifier, "client_id": "app",
    ]
    #expect(service.requests[0] == expected)
    service.revoke()
    service.revokeRefreshTokens()
    let error = await taskError { try await shop.task().run() }
    #expect(error?.code == .signInRequired)
    shop.clock.advance(by: .seconds(60))
    #expect(await taskError { try await shop.task().run() }?.code == .signInRequired)
    #expect(service.grants == ["authorization_code", "refresh_token", "refresh_token"])
  }

  @Test func `builds an authorization URL with all parameters (RFC 6749 §4.1.1, RFC 7636 §4.3)`() throws {
    let settings = service.settings(.clientCredentials) { $0.scopes = ["a", "b"] }
    let url = try settings.authorizationURL(
      .known("https://auth.test/authorize?tenant=1"), redirectURL: .known("https://app.test/back?x=1"), state: "s t",
      pkce: .init(verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"))
    #expect(
      url.absoluteString
        == "https://auth.test/authorize?tenant=1&response_type=code&client_id=app&redirect_uri=https%3A%2F%2Fapp.test%2Fback%3Fx%3D1&state=s%20t&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256&scope=a%20b"
    )
  }

  @Test func `uses a custom token request and token parser`() async throws {
    let settings = service.settings(.clientCredentials) { settings in
      settings.tokenRequest = { exchange in
        var request = try exchange.request()
        request.headers["X-Own"] = exchange.grantType
        return request
      }
      settings.tokenParser = { _, body, now in
        AccessToken("t\(String(decoding: body, as: UTF8.self).contains("t1") ? 1 : 0)", issued: now)
      }
    }
    try await service.shop(settings).task().run()
    #expect(service.headers[0]["X-Own"] == "client_credentials")
  }

  @Test(arguments: [
    (
      HTTPStatus(401), #"{"error":"invalid_client","error_description":"who?"}"#,
      "invalid_client: who? (401 Unauthorized)"
    ),
    (400, #"{"error":"invalid_scope"}"#, "invalid_scope (400 Bad Request)"),
    (500, "<html>", "returned 500 Internal Server Error"),
    (200, "{}", "has no access_token"),
    (200, "token planted1", "has no access_token"),
    (200, #"{"access_token":"a","token_type":"mac"}"#, "'mac'"),
  ])
  func `reports the token endpoint's error to the caller`(
    status: HTTPStatus, body: String, words: String
  ) async throws {
    service.fail(status, body)
    let shop = service.shop(service.settings(.clientCredentials))
    let error = try #require(await taskError { try await shop.task().run() })
    #expect(error.code == .authenticationFailed && error.reason.contains(words), "\(error)")
    #expect(service.requests.count == 1 && !"\(error)".contains("planted"))
  }

  @Test func `redacts an error description by media type and by path`() async throws {
    service.fail(400, #"{"error":"invalid_scope","error_description":"for planted9"}"#)
    for (change, isHidden) in [
      ({ @Sendable (_: inout Redaction) in }, false), ({ $0.bodies = ["application/json"] }, true),
      ({ $0.paths = ["error_description"] }, true), ({ $0.paths = ["detail"] }, false),
    ] as [(@Sendable (inout Redaction) -> Void, Bool)] {
      let shop = service.shop(service.settings(.clientCredentials))
      await shop.server.update { change(&$0.redaction) }
      let error = try #require(await taskError { try await shop.task().run() })
      #expect("\(error)".contains("planted9") != isHidden && "\(error)".contains("invalid_scope"), "\(error)")
    }
  }

  @Test func `accepts a token lifetime that is a string, negative, very large or missing`() async throws {
    for (member, expected) in [("\"60\"", 60.0), ("1e99", 1e9), ("-5", 0), ("60.5", 60.5)] {
      let body = Data(#"{"access_token":"a","expires_in":\#(member)}"#.utf8)
      struct Stated: Decodable { let expires_in: LenientNumber }
      #expect(try JSONDecoder().decode(Stated.self, from: body).expires_in.value == expected)
    }
    let now = Date(timeIntervalSince1970: 0)
    let forever = AccessToken("a", issued: now)
    #expect(forever.freshness(at: .distantFuture, leeway: .seconds(60)) == .good)
    let short = AccessToken("a", issued: now, expiry: now.addingTimeInterval(10))
    #expect(
      short.freshness(at: now.addingTimeInterval(4), leeway: .seconds(60)) == .good,
      "the leeway is at most half of the token's lifetime")
    #expect(short.freshness(at: now.addingTimeInterval(5), leeway: .seconds(60)) == .expiring)
    #expect(short.freshness(at: now.addingTimeInterval(10), leeway: .seconds(60)) == .ended)
  }
}
