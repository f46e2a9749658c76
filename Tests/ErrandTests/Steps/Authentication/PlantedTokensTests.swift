import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Searches all output for the tokens and secrets of every authenticator.
@Suite(.timeLimit(.minutes(1))) struct PlantedTokensTests {
  private struct Session: Authenticator {
    func storedToken() async throws -> String? { "planted1" }
    func apply(_ token: String, to request: inout HTTPRequest) { request.headers["X-Opaque"] = token }
    func refresh(_ token: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
      "planted2"
    }
  }

  private static var signIns: [Authentication] {
    let client = OAuth2.Client(id: "app", secret: "planted3", placement: .body)
    let oauth = OAuth2(
      tokenURL: TokenService.url, client: client, grant: .password(user: "ann", password: "planted4"))
    return [
      .custom(Session()), .bearer("planted5"), .basic(user: "planted6", password: "planted7"), .oauth2(oauth),
      .oauth2(OAuth2(tokenURL: TokenService.url, client: client, grant: .refreshToken("planted8"))),
      .oauth2(OAuth2(tokenURL: TokenService.url, client: client, grant: .authorizationCode("planted9"))),
    ]
  }

  private func answer(_ request: HTTPRequest, _ number: Int) -> HTTPResponse {
    guard request.url == TokenService.url else {
      return number.isMultiple(of: 3) ? .ok(request) : .status(.unauthorized, for: request)
    }
    let body =
      number.isMultiple(of: 2)
      ? #"{"access_token":"planted10","refresh_token":"planted11"}"#
      : #"{"error":"invalid_grant","error_description":"refresh_token=planted12 is none"}"#
    return .json(body, status: number.isMultiple(of: 2) ? .ok : .badRequest, for: request)
  }

  @Test func `no output contains a token or secret`() async throws {
    try await withFolder { folder in
      let output = Shared<[String]>([])
      for authentication in Self.signIns {
        let shop = VirtualShop(
          configure: {
            $0.authentication = authentication
            $0.echoesTasks = true
            $0.logStyle = .steps
            $0.log = LogOutput { text in output.withLock { $0.append(text) } }
          }, answer: { number, request, _ in answer(request, number) })
        try await shop.server.recordTaskPath(to: folder)
        for _ in 0..<4 {
          shop.clock.advance(by: .seconds(120))
          let error = await taskError { try await shop.task().run() }
          guard let error else { continue }
          let refusal = error.underlying.map { "\($0)" } ?? ""
          output.withLock {
            $0 += ["\(error)", error.reason, error.record.description, refusal.isEmpty ? "" : "refused"]
          }
        }
        await shop.server.endTaskPathRecording()
        output.withLock { $0 += ["\(authentication)", String(reflecting: authentication)] + shop.events.moments() }
      }
      for name in try files(in: folder) {
        let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
        output.withLock { $0 += [name, text] }
      }
      let pkce = OAuth2.PKCE(verifier: "planted13")
      let grant = OAuth2.Grant.authorizationCode("planted14", pkce: pkce)
      let settings = OAuth2(tokenURL: TokenService.url, client: .init(id: "app", secret: "planted15"), grant: grant)
      let token = AccessToken("planted16", issued: Date(), refreshToken: "planted17")
      output.withLock { $0 += ["\(pkce) \(grant) \(settings) \(settings.client) \(token)"] }
      let all = output.withLock { $0 }
      #expect(all.count > 50 && all.joined().contains("X-Opaque: \(Redaction.mark)"))
      for text in all {
        let found = text.matches(of: /planted\d+/).map { String($0.0) }
        #expect(found.isEmpty, "\(found) in \(text.prefix(2000))")
      }
    }
  }
}
