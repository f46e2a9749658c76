import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Token responses that deviate from RFC 6749.
@Suite(.timeLimit(.minutes(1))) struct TokenAnswersTests {
  private let sent = Shared<[[String: String]]>([])

  /// Creates a shop whose token endpoint calls `answer` with each request's number, starting at 1, and form.
  private func shop(
    _ settings: OAuth2, _ answer: @escaping @Sendable (_ number: Int, _ form: [String: String]) -> (HTTPStatus, String)
  ) -> VirtualShop {
    VirtualShop(
      configure: {
        $0.authentication = .oauth2(settings)
        $0.retryPolicy = .never
      },
      answer: { [sent] _, request, _ in
        guard request.url == TokenService.url else { return .ok(request) }
        let form = TokenService.form(request.body.data ?? Data())
        let number = sent.withLock { sent in
          sent.append(form)
          return sent.count
        }
        let (status, body) = answer(number, form)
        return .json(body, status: status, for: request)
      })
  }

  private func settings(_ grant: OAuth2.Grant, secret: String? = nil) -> OAuth2 {
    OAuth2(tokenURL: TokenService.url, client: .init(id: "app", secret: secret), grant: grant)
  }

  @Test func `treats an OAuth error with status 200 as a failure`() async throws {
    let shop = shop(settings(.refreshToken("old"))) { _, _ in
      (.ok, #"{"error":"invalid_grant","error_description":"it was used"}"#)
    }
    let error = await taskError { try await shop.task().run() }
    #expect(error?.code == .signInRequired && error?.reason.contains("invalid_grant: it was used (200 OK)") == true)
    #expect((error?.underlying as? OAuth2.Refusal)?.code == "invalid_grant")
  }

  @Test(arguments: ["\"3600s\"", "1e400", "\"\"", "true", "null", "[]", "{}", "-1", "0"])
  func `keeps the access and refresh tokens if the lifetime is invalid`(_ lifetime: String) async throws {
    let shop = shop(settings(.refreshToken("r0"))) { number, _ in
      (.ok, #"{"access_token":"t","refresh_token":"r\#(number)","expires_in":\#(lifetime)}"#)
    }
    for _ in 0..<3 { try await shop.task().run() }
    #expect(sent.withLock { $0.map { $0["refresh_token"] } } == ["r0"])
  }

  @Test func `accepts scopes as an array and ignores members of the wrong type`() async throws {
    let answer = #"{"access_token":"t","scope":["a","b"],"token_type":null,"refresh_token":7,"expires_in":60}"#
    let token = try JSONDecoder().decode(StatedToken.self, from: Data(answer.utf8)).token(.distantPast)
    #expect(token == AccessToken("t", issued: .distantPast, expiry: .distantPast.addingTimeInterval(60)))
    #expect(throws: OtherType.self) {
      let other = Data(#"{"access_token":"t","token_type":"mac"}"#.utf8)
      _ = try JSONDecoder().decode(StatedToken.self, from: other).token(.distantPast)
    }
  }

  @Test(arguments: [#"a\r\nX: 1"#, "", "a b", "\u{E9}"])
  func `rejects a token that is invalid in a header without storing it`(_ token: String) async throws {
    let store = MemorySecretStore()
    var settings = settings(.clientCredentials)
    settings.store = store
    let shop = shop(settings) { number, _ in (.ok, #"{"access_token":"\#(number == 1 ? token : "t")"}"#) }
    let error = await taskError { try await shop.task().run() }
    #expect(error?.code == .authenticationFailed && error?.reason.contains("invalid in a header") == true)
    #expect(try await store.secret(named: settings.secretName) == nil)
    shop.clock.advance(by: .seconds(1))
    try await shop.task().run()
  }

  @Test func `redacts secrets that the server echoes`() async throws {
    let grants: [OAuth2.Grant] = [
      .refreshToken("planted-refresh"), .password(user: "ann", password: "planted-password"),
      .authorizationCode("planted-code", pkce: .init(verifier: "planted-verifier")), .clientCredentials,
    ]
    for grant in grants {
      let shop = shop(settings(grant, secret: "planted-secret")) { _, form in
        let words = (Array(form.values) + ["planted-secret"]).joined(separator: " ")
        return (.badRequest, #"{"error":"invalid_grant","error_description":"\#(words)"}"#)
      }
      let error = try #require(await taskError { try await shop.task().run() })
      let all = "\(error) \(error.record) \(error.underlying as Any) \(shop.events.moments())"
      #expect(all.contains(Redaction.mark) && !all.contains("planted"), "\(all)")
    }
  }

  @Test func `redacts an echoed secret in every encoding, even in the error code`() async throws {
    let basic = Data("app:planted-s%2B%20%2F".utf8).base64EncodedString()
    let words = [
      "planted-r+ /", "planted-r%2B%20%2F", "planted-r%2b+%2f", "Basic \(basic)", "basic \(basic)", basic,
      "app:planted-s+ /", "planted-s%2b%20%2f",
    ]
    for word in words {
      for body in [
        #"{"error":"invalid refresh token \#(word) of app","error_description":"none"}"#,
        #"{"error":"invalid_grant","error_description":"no \#(word) here"}"#,
        #"{"error":"\#(word)"}"#, #"{"error":"kein gültiges Token: \#(word)"}"#,
      ] {
        let shop = shop(settings(.refreshToken("planted-r+ /"), secret: "planted-s+ /")) { _, _ in (.badRequest, body) }
        let error = try #require(await taskError { try await shop.task().run() })
        let all = "\(error) \(error.record) \(error.underlying as Any) \(shop.events.moments())"
        #expect(!all.contains("planted") && !all.contains(basic), "\(body): \(all)")
      }
    }
  }

  @Test func `does not redact a known error code that contains a secret`() async throws {
    for word in ["invalid_grant", "temporarily_unavailable"] {
      let shop = shop(settings(.password(user: "ann", password: "grant"), secret: "in")) { _, _ in
        (.badRequest, #"{"error":"\#(word)","error_description":"the grant is void"}"#)
      }
      let error = try #require(await taskError { try await shop.task().run() })
      #expect(error.reason.contains("\(word): the \(Redaction.mark) is void"), "\(error)")
      #expect((error.underlying as? OAuth2.Refusal)?.code == word)
    }
  }

  @Test func `throws .bodyTooLarge for an oversized token response`() async throws {
    let shop = shop(settings(.clientCredentials)) { _, _ in
      (.ok, #"{"access_token":"t","x":"\#(String(repeating: "x", count: 1 << 20))"}"#)
    }
    #expect(await taskError { try await shop.task().run() }?.code == .bodyTooLarge)
  }

  // MARK: Responses from well-known servers

  /// Returns the error of a call whose token endpoint returns the given response.
  private func failure(
    _ status: HTTPStatus, _ body: String, type: MediaType = .json, grant: OAuth2.Grant = .clientCredentials
  ) async throws -> TaskError {
    let settings = settings(grant, secret: "planted-secret")
    let shop = VirtualShop(
      configure: {
        $0.authentication = .oauth2(settings)
        $0.retryPolicy = .never
      },
      answer: { _, request, _ in
        guard request.url == TokenService.url else { return .ok(request) }
        return HTTPResponse(
          status, url: request.url, headers: [.contentType: type.rawValue], body: HTTPResponseBody(Data(body.utf8)))
      })
    return try #require(await taskError { try await shop.task().run() })
  }

  @Test func `the error for an unsupported token type names the setting and hides the token`() async throws {
    let slack = #"{"ok":true,"access_token":"planted-token","token_type":"bot","scope":"chat:write"}"#
    let error = try await failure(.ok, slack)
    #expect(error.code == .authenticationFailed && error.reason.contains("the type 'bot' instead of Bearer"))
    #expect(error.reason.contains("set OAuth2.tokenParser") && error.status == .ok)
    #expect(error.bodyText == slack.replacing("planted-token", with: Redaction.mark))
  }

  @Test(arguments: [
    (
      #"{"error":{"message":"Error validating code","type":"OAuthException","code":100,"fbtrace_id":"A1"}}"#,
      "OAuthException", "Error validating code"
    ),
    (#"{"error":{"code":400,"message":"Bad","status":"INVALID_ARGUMENT"}}"#, "INVALID_ARGUMENT", "Bad"),
    (#"{"error":401,"message":"Unauthorized"}"#, "401", "Unauthorized"),
    (#"{"error":"invalid_request","error_description":"no code"}"#, "invalid_request", "no code"),
  ]) func `parses the error code and message in common formats`(body: String, code: String, detail: String) async throws
  {
    let error = try await failure(.badRequest, body)
    let refusal = try #require(error.underlying as? OAuth2.Refusal)
    #expect(refusal.code == code && refusal.detail == detail && error.status == .badRequest)
    #expect(error.bodyText == body && error.reason.contains("\(code): \(detail) (400 Bad Request)"))
    #expect(error.reason.hasSuffix("set OAuth2.tokenRequest if the server expects a different request"))
  }

  @Test func `parses a form-encoded response like JSON`() async throws {
    let form =
      "error=bad_verification_code&error_description=The+code+is+incorrect%20or+expired.&error_uri=https%3A%2F%2Fx"
    let error = try await failure(.ok, form, type: .form)
    let refusal = try #require(error.underlying as? OAuth2.Refusal)
    #expect(refusal.code == "bad_verification_code" && refusal.detail == "The code is incorrect or expired.")
    #expect(error.bodyText == form)
    let shop = shop(settings(.clientCredentials)) { _, _ in (.ok, "access_token=t1&scope=repo&token_type=bearer\n") }
    try await shop.task().run()
  }

  @Test(arguments: [
    (
      HTTPStatus.unauthorized, #"{"error":"invalid_client"}"#,
      "check OAuth2.client: its id, its secret, and its placement"
    ),
    (.badRequest, #"{"error":"invalid_scope"}"#, "check OAuth2.scopes"),
    (.badRequest, #"{"error":"unsupported_grant_type"}"#, "check OAuth2.grant"),
    (.badRequest, #"{"error":"invalid_target"}"#, "check OAuth2.parameters"),
    (.notFound, "no such page", "check OAuth2.tokenURL"), (302, "", "check OAuth2.tokenURL"),
    (415, #"{"message":"Unsupported Media Type"}"#, "set OAuth2.tokenRequest"),
    (.ok, "<title>Welcome</title>", "set OAuth2.tokenParser"), (.ok, #"{"ok":false}"#, "set OAuth2.tokenParser"),
    (.ok, #"{"access_token":"a b"}"#, "set OAuth2.tokenParser"),
  ]) func `every error contains the body and names the setting to check`(
    status: HTTPStatus, body: String, advice: String
  ) async throws {
    let error = try await failure(status, body, type: body.beginsAsJSON ? .json : "text/html")
    #expect(error.code == .authenticationFailed && error.status == status && error.reason.contains(advice), "\(error)")
    #expect(error.bodyText == body.replacing("a b", with: Redaction.mark))
  }

  @Test func `the error for a rejected grant contains the redacted body`() async throws {
    let body = #"{"error":"invalid_grant","error_description":"planted-secret is old","refresh_token":"planted-r"}"#
    let error = try await failure(.badRequest, body, grant: .refreshToken("planted-r0"))
    #expect(error.code == .signInRequired && error.status == .badRequest)
    #expect(error.bodyText?.contains("invalid_grant") == true && error.bodyText?.contains("planted") == false)
  }

  @Test func `states a status once, even if the page repeats it`() async throws {
    let error = try await failure(.notFound, "<title>404 Not Found</title>", type: "text/html")
    #expect(error.reason.hasSuffix("returned 404 Not Found: check OAuth2.tokenURL"), "\(error)")
  }

  @Test func `includes the text of a 503 in the error`() async throws {
    let error = try await failure(.serviceUnavailable, "down until 8 o'clock", type: .plainText)
    #expect(error.reason.hasSuffix("returned 503 Service Unavailable: down until 8 o'clock"))
    #expect(error.bodyText == "down until 8 o'clock")
  }

  @Test func `omits a redacted body from the error`() async throws {
    let shop = VirtualShop(
      configure: {
        $0.authentication = .oauth2(settings(.clientCredentials))
        $0.redaction.bodies = ["application/json"]
      }, answer: { _, request, _ in .json(#"{"ok":false,"hint":"planted"}"#, for: request) })
    let error = try #require(await taskError { try await shop.task().run() })
    #expect(error.code == .authenticationFailed && error.body.isEmpty)
  }
}
