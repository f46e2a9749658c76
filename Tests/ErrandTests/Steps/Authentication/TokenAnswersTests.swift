import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Answers of token endpoints that are not as RFC 6749 has them.
@Suite(.timeLimit(.minutes(10))) struct TokenAnswersTests {
  private let sent = Shared<[[String: String]]>([])

  /// A shop that is signed in by what `answer` says to the form of a number, the first being 1.
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

  @Test func `a refusal with the status 200 is one`() async throws {
    let shop = shop(settings(.refreshToken("old"))) { _, _ in
      (.ok, #"{"error":"invalid_grant","error_description":"it was used"}"#)
    }
    let error = await taskError { try await shop.task().run() }
    #expect(error?.code == .signInRequired && error?.reason.contains("invalid_grant: it was used (200 OK)") == true)
    #expect((error?.underlying as? OAuth2.Refusal)?.code == "invalid_grant")
  }

  @Test(arguments: ["\"3600s\"", "1e400", "\"\"", "true", "null", "[]", "{}", "-1", "0"])
  func `a lifetime that says nothing costs neither the token nor the next refresh token`(_ lifetime: String)
    async throws
  {
    let shop = shop(settings(.refreshToken("r0"))) { number, _ in
      (.ok, #"{"access_token":"t","refresh_token":"r\#(number)","expires_in":\#(lifetime)}"#)
    }
    for _ in 0..<3 { try await shop.task().run() }
    #expect(sent.withLock { $0.map { $0["refresh_token"] } } == ["r0"])
  }

  @Test func `scopes may come as a list, and what has no meaning is left out`() async throws {
    let answer = #"{"access_token":"t","scope":["a","b"],"token_type":null,"refresh_token":7,"expires_in":60}"#
    let token = try JSONDecoder().decode(StatedToken.self, from: Data(answer.utf8)).token(.distantPast)
    #expect(token == AccessToken("t", issued: .distantPast, expiry: .distantPast.addingTimeInterval(60)))
    #expect(throws: OtherType.self) {
      let other = Data(#"{"access_token":"t","token_type":"mac"}"#.utf8)
      _ = try JSONDecoder().decode(StatedToken.self, from: other).token(.distantPast)
    }
  }

  @Test(arguments: [#"a\r\nX: 1"#, "", "a b", "\u{E9}"])
  func `a token that no header may have is neither stored nor kept`(_ token: String) async throws {
    let store = MemorySecretStore()
    var settings = settings(.clientCredentials)
    settings.store = store
    let shop = shop(settings) { number, _ in (.ok, #"{"access_token":"\#(number == 1 ? token : "t")"}"#) }
    let error = await taskError { try await shop.task().run() }
    #expect(error?.code == .authenticationFailed && error?.reason.contains("no header may have") == true)
    #expect(try await store.secret(named: settings.secretName) == nil)
    shop.clock.advance(by: .seconds(1))
    try await shop.task().run()
  }

  @Test func `what the server repeats of a secret is not shown`() async throws {
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

  @Test func `a secret is hidden in whatever form the server repeats it, and in whatever it calls the error`()
    async throws
  {
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

  @Test func `a word that servers have for an error stays, whatever the secrets are`() async throws {
    for word in ["invalid_grant", "temporarily_unavailable"] {
      let shop = shop(settings(.password(user: "ann", password: "grant"), secret: "in")) { _, _ in
        (.badRequest, #"{"error":"\#(word)","error_description":"the grant is void"}"#)
      }
      let error = try #require(await taskError { try await shop.task().run() })
      #expect(error.reason.contains("\(word): the \(Redaction.mark) is void"), "\(error)")
      #expect((error.underlying as? OAuth2.Refusal)?.code == word)
    }
  }

  @Test func `an answer that is larger than any token is not read to its end`() async throws {
    let shop = shop(settings(.clientCredentials)) { _, _ in
      (.ok, #"{"access_token":"t","x":"\#(String(repeating: "x", count: 1 << 20))"}"#)
    }
    #expect(await taskError { try await shop.task().run() }?.code == .bodyTooLarge)
  }
}
