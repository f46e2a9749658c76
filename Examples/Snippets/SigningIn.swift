import Errand
import Foundation

func signingIn(_ shop: Server, password: String, token: String, tokens: any TokenSource) async throws {
  await shop.update { $0.authentication = .bearer { try await tokens.current() } }
  let widget = try await GetWidget(id: 7).authenticated(.basic(user: "ann", password: password)).on(shop).send()
  _ = widget
  await shop.update {
    $0.authentication = .firstMatching([
      .bearer(token).forPaths(below: "/v1/admin"),
      .basic(user: "warehouse", password: password).forOrigins("https://depot.example.com"),
      .bearer { try await tokens.current() },
    ])
  }
  let sign = try await GetWidget(id: 7).authenticated(.none).on(shop).send()
  _ = sign
}

func digest(_ shop: Server, password: String) async {
  await shop.update { $0.authentication = .digest(user: "ann", password: password) }
}

func apiKey(_ shop: Server, key: String, tokens: any TokenSource) async {
  await shop.update {
    $0.authentication = .all([.apiKey(key, header: "X-API-Key"), .bearer { try await tokens.current() }])
  }
}

func clientCredentials(_ shop: Server, _ tokenURL: URL, secret: String) async {
  var signIn = OAuth2(
    tokenURL: tokenURL, client: .init(id: "warehouse", secret: secret), grant: .clientCredentials)
  signIn.scopes = ["widgets:read"]
  let authentication = Authentication.oauth2(signIn)
  await shop.update { $0.authentication = authentication }
}

/// Opens a page and returns the code and state of the final redirect.
typealias Browser = @Sendable (_ page: URL) async throws -> (code: String, state: String)

struct WrongState: Error {}

func browser(
  _ shop: Server, _ tokenURL: URL, _ authorizationURL: URL, _ redirect: URL, _ state: String, _ open: Browser,
  _ folder: URL
) async throws {
  var signIn = OAuth2(tokenURL: tokenURL, client: .init(id: "app"), grant: .clientCredentials)
  signIn.store = FileSecretStore(folder: folder)
  let pkce = OAuth2.PKCE()
  let page = try signIn.authorizationURL(authorizationURL, redirectURL: redirect, state: state, pkce: pkce)
  let answer = try await open(page)
  guard answer.state == state else { throw WrongState() }
  signIn.grant = .authorizationCode(answer.code, redirectURL: redirect, pkce: pkce)
  let authentication = Authentication.oauth2(signIn)
  await shop.update { $0.authentication = authentication }
}

func retriedTokens(_ signIn: inout OAuth2) {
  signIn.retryPolicy = .decided { failure in
    failure.attempts.count < 5 ? .retry(after: failure.retryAfter ?? .seconds(1)) : .giveUp
  }
}

func device(_ shop: Server, _ tokenURL: URL, _ deviceURL: URL, show: @escaping @Sendable (String, URL) async -> Void)
  async
{
  let grant = OAuth2.Grant.deviceCode(at: deviceURL) { prompt in
    await show(prompt.userCode, prompt.verificationURL)
  }
  let signIn = OAuth2(tokenURL: tokenURL, client: .init(id: "tv"), grant: grant)
  await shop.update { $0.authentication = .oauth2(signIn) }
}

func ownTokens(_ signIn: inout OAuth2) {
  signIn.tokenRequest = { exchange in
    var request = try exchange.request()
    request.headers["X-Tenant"] = "7"
    return request
  }
  signIn.tokenParser = { response, body, now in
    struct Answer: Decodable { let jwt: String }
    let answer = try JSONDecoder().decode(Answer.self, from: body)
    return AccessToken(answer.jwt, issued: now, expiry: now.addingTimeInterval(600))
  }
}

func expired(_ authentication: Authentication, _ shop: Server, showSignIn: () async -> Void) async throws -> Widget? {
  do {
    return try await shop.send(GetWidget(id: 7))
  } catch let error as TaskError where error.code == .signInRequired {
    try await authentication.forget()
    await showSignIn()
    return nil
  } catch let error as TaskError where error.status == .unauthorized {
    let schemes = error.headers.challenges.map(\.scheme)
    throw error.headers.challenges.isEmpty ? error : NoWayIn(schemes: schemes)
  }
}

struct NoWayIn: Error {
  let schemes: [String]
}

/// Opens a session with the shop and authenticates with it.
struct SessionKey: Authenticator {
  let key: String
  let loginURL: URL

  func apply(_ token: String, to request: inout HTTPRequest) { request.headers["X-Session"] = token }

  func refresh(_ token: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
    let response = try await context.send(HTTPRequest(.post, loginURL, body: .text(key)))
    guard response.status == .ok else {
      throw TaskError(.authenticationFailed, "the shop rejected the session key", phase: .authenticating)
    }
    return String(decoding: try await response.body.collect(), as: UTF8.self)
  }

  func isAuthenticationFailure(_ response: HTTPResponse) -> Bool { response.status == 403 }
}

func custom(_ shop: Server, key: String, loginURL: URL) async {
  let authentication = Authentication.custom(SessionKey(key: key, loginURL: loginURL))
  await shop.update { $0.authentication = authentication }
}

/// A partner's key and its algorithm.
protocol SigningKey: Sendable {
  func signature(of data: Data) throws -> String
}

struct SignedRequests: Authenticator {
  let key: any SigningKey

  var isRefreshable: Bool { false }

  func storedToken() async throws -> (any SigningKey)? { key }

  func apply(_ key: any SigningKey, to request: inout HTTPRequest) throws {
    let text = "\(request.method) \(request.url.absoluteString)"
    request.headers["X-Signature"] = try key.signature(of: Data(text.utf8))
  }

  func refresh(
    _ key: (any SigningKey)?, after response: HTTPResponse?, _ context: RefreshContext
  ) async throws -> (any SigningKey)? { nil }
}
