import ErrandFoundation

/// Gets OAuth 2 tokens, with a refresh token if available and with the grant otherwise.
final class OAuth2Authenticator: Authenticator {
  private struct State {
    /// Whether the grant's code or refresh token has been sent.
    var hasUsedGrant = false
    var refused: String?
    /// Identifies the sign-in that produced the token.
    var origin: String
  }

  private let settings: OAuth2
  private let store: any SecretStore
  private let name: String
  private let endpoint: TokenEndpoint
  private let state: Lock<State>

  init(_ settings: OAuth2) {
    self.settings = settings
    store = settings.store ?? MemorySecretStore()
    name = settings.secretName
    state = Lock(State(origin: settings.grant.origin ?? ""))
    endpoint = TokenEndpoint(settings: settings)
  }

  func storedToken() async throws -> AccessToken? {
    guard let data = try await store.secret(named: name),
      let stored = try? JSONDecoder().decode(StoredToken.self, from: data)  // ignore data that is not a token
    else { return nil }
    return state.withLock { take(stored, &$0) ? stored.token : nil }
  }

  /// Whether a stored token belongs to this sign-in. Updates the state accordingly.
  private func take(_ stored: StoredToken, _ state: inout State) -> Bool {
    guard let origin = settings.grant.origin else {
      state.origin = stored.origin ?? ""
      return true
    }
    let isCode = if case .code = settings.grant.kind { true } else { false }
    if stored.origin == origin {
      // Sending a code twice can revoke its tokens (RFC 6749 §4.1.2).
      if isCode { state.hasUsedGrant = true }
      return true
    }
    // Without an origin, the app stored the token, presumably for this sign-in. An unsent code starts a new sign-in.
    return stored.origin == nil && (!isCode || state.hasUsedGrant)
  }

  func freshness(of token: AccessToken, at now: Date) -> TokenFreshness {
    token.value.isBearerToken ? token.freshness(at: now, leeway: settings.leeway) : .ended
  }

  func apply(_ token: AccessToken, to request: inout HTTPRequest) throws { try request.setBearer(token.value) }

  func isAuthenticationFailure(_ response: HTTPResponse) -> Bool { response.refusesBearer }

  func forget() async throws { try await store.setSecret(nil, named: name) }

  func refresh(
    _ token: AccessToken?, after response: HTTPResponse?, _ context: RefreshContext
  ) async throws -> AccessToken? {
    let latest = try await latest(token)
    // Another process or client that shares the store has already refreshed the token.
    if let latest, latest.value != token?.value, freshness(of: latest, at: context.now) == .good { return latest }
    do {
      if let token = try await renewed(latest, context) { return token }
      return try await begin(context)
    } catch let refusal as OAuth2.Refusal {
      throw error(for: refusal, context)
    }
  }

  /// Refreshes a token. Returns `nil` if no usable refresh token is left and the grant must be used.
  private func renewed(_ latest: AccessToken?, _ context: RefreshContext) async throws -> AccessToken? {
    var (latest, next) = (latest, usableRefreshToken(of: latest))
    while let refreshToken = next {
      do {
        return try await renewed(by: refreshToken, context)
      } catch let refusal as OAuth2.Refusal where refusal.code == "invalid_grant" {
        state.withLock { $0.refused = refreshToken }
        // Another process may have used the refresh token and stored the new token.
        let stored = try await storedToken()
        let isLater = stored.map { $0.issued > latest?.issued ?? .distantPast } ?? false
        if isLater, let stored, freshness(of: stored, at: context.now) == .good { return stored }
        let other = isLater ? stored?.refreshToken : nil
        // Without another refresh token, only a repeatable grant can get a new token.
        guard other != nil && other != refreshToken || settings.grant.isRepeatable else { throw refusal }
        (latest, next) = (stored, other == refreshToken ? nil : other)
      }
    }
    return nil
  }

  /// Returns the newer of a token and the stored token. The stored token is older if the latest one couldn't be stored.
  private func latest(_ token: AccessToken?) async throws -> AccessToken? {
    guard let stored = try await storedToken() else { return token }
    guard let token else { return stored }
    return stored.issued > token.issued ? stored : token
  }

  private func usableRefreshToken(of token: AccessToken?) -> String? {
    let state = state.withLock { $0 }
    if let token = token?.refreshToken, token != state.refused { return token }
    if case .refreshToken(let token) = settings.grant.kind, !state.hasUsedGrant, token != state.refused { return token }
    return nil
  }

  // MARK: One-time requests

  /// Completes an exchange and stores the token even if the caller is cancelled, because a code or refresh token can be
  /// sent only once.
  private func concluding(
    _ context: RefreshContext, _ exchange: @escaping @Sendable () async throws -> AccessToken
  ) async throws -> AccessToken {
    let work = Task {
      let token = try await exchange()
      await keep(token, context)
      return token
    }
    return try await work.value
  }

  private func renewed(by refreshToken: String, _ context: RefreshContext) async throws -> AccessToken {
    try await concluding(context) { [self] in
      var grant: HTTPQuery = ["grant_type": "refresh_token", "refresh_token": refreshToken]
      grant.addScopes(settings.scopes)
      var token = try await endpoint.token(grant, context)
      // RFC 6749 §6: if the response has no new refresh token, the old one stays valid.
      token.refreshToken = token.refreshToken ?? refreshToken
      if case .refreshToken(refreshToken) = settings.grant.kind { state.withLock { $0.hasUsedGrant = true } }
      return token
    }
  }

  /// Stores a token before it is used. If storing it fails, the token is still used, because the previous one no longer
  /// works.
  private func keep(_ token: AccessToken, _ context: RefreshContext) async {
    do {
      let stored = StoredToken(token, origin: state.withLock { $0.origin })
      try await store.setSecret(try JSONEncoder().encode(stored), named: name)
    } catch {
      context.complain("can't store the token of \(settings): \(error); the token is lost when the process ends")
    }
  }

  // MARK: The grant

  private func begin(_ context: RefreshContext) async throws -> AccessToken {
    let token: AccessToken
    switch settings.grant.kind {
    case .clientCredentials: token = try await endpoint.token(grant("client_credentials"), isRepeatable: true, context)
    case .password(let credential):
      let password: HTTPQuery = ["username": credential.user, "password": credential.password]
      token = try await endpoint.token(grant("password", password), context)
    case .refreshToken: throw signInRequired("the refresh token was already used or rejected")
    case .code(let code, let redirectURL, let verifier):
      return try await redeem(code, redirectURL, verifier, context)
    case .device(let url, let show):
      token = try await DeviceSignIn(endpoint: endpoint, context: context).token(at: url) { prompt in
        try prompt.check(from: url)
        try await show(prompt)
      }
    }
    state.withLock { $0.origin = "" }
    await keep(token, context)
    return token
  }

  private func grant(_ type: String, _ parameters: HTTPQuery = [:]) -> HTTPQuery {
    var grant = HTTPQuery([.init("grant_type", type)] + parameters.items)
    grant.addScopes(settings.scopes)
    return grant
  }

  private func redeem(
    _ code: String, _ redirectURL: URL?, _ verifier: String?, _ context: RefreshContext
  ) async throws -> AccessToken {
    let wasUsed = state.withLock { state in
      defer { state.hasUsedGrant = true }
      return state.hasUsedGrant
    }
    if wasUsed { throw signInRequired("the authorization code was already used, and the server sent no refresh token") }
    // RFC 6749 §4.1.3: don't send scopes, because they are bound to the code.
    var grant: HTTPQuery = ["grant_type": "authorization_code", "code": code]
    if let redirectURL { grant.add("redirect_uri", redirectURL.absoluteString) }
    if let verifier { grant.add("code_verifier", verifier) }
    return try await concluding(context) { [self, grant] in
      do {
        return try await endpoint.token(grant, context)
      } catch let error as TaskError where error.wasNotSent || TokenRetry.isUnprocessed(error.status) {
        state.withLock { $0.hasUsedGrant = false }
        throw error
      } catch let refusal as OAuth2.Refusal where TokenRetry.isUnprocessed(refusal.status) {
        state.withLock { $0.hasUsedGrant = false }
        throw refusal
      } catch let refusal as OAuth2.Refusal where refusal.code == "invalid_grant" {
        // Another process, or the app itself, may have redeemed the code and stored its token.
        guard let stored = try await storedToken(), freshness(of: stored, at: context.now) == .good else {
          throw refusal
        }
        return stored
      }
    }
  }

  // MARK: Errors

  private func signInRequired(_ reason: String, _ refusal: OAuth2.Refusal? = nil) -> TaskError {
    var error = TaskError(
      .signInRequired, "\(settings): \(reason): sign in again, then set authentication again", phase: .authenticating,
      underlying: refusal)
    error.status = refusal?.status
    error.body = refusal?.body ?? Data()
    return error
  }

  private func error(for refusal: OAuth2.Refusal, _ context: RefreshContext) -> TaskError {
    let redaction = context.redaction
    let isHidden =
      redaction.hidesBody(of: .json) || redaction.hidesBody(of: refusal.type)
      || redaction.places.within("error_description").isReached
    let shown = isHidden ? nil : refusal.detail
    let detail = shown.map { ": \(redaction(text: $0).shortened)" } ?? ""
    let isWord = OAuth2.Refusal.words.contains(refusal.code)
    let code = isWord ? refusal.code : isHidden ? Redaction.mark : redaction(text: refusal.code).shortened
    let words = "\(code)\(detail) (\(refusal.status))"
    if refusal.code == "invalid_grant", !settings.grant.isRepeatable {
      return signInRequired("the \(settings.grant) was rejected: \(words)", refusal)
    }
    let advice = OAuth2.advice(for: refusal.code, refusal.status).map { ": \($0)" } ?? ""
    var error = TaskError(
      .authenticationFailed, "\(settings): no token for \(settings.grant): \(words)\(advice)", phase: .authenticating,
      underlying: refusal)
    error.status = refusal.status
    error.body = refusal.body
    return error
  }
}

extension OAuth2.Grant {
  /// Whether the grant can be used more than once.
  fileprivate var isRepeatable: Bool {
    switch kind {
    case .clientCredentials, .password, .device: true
    case .refreshToken, .code: false
    }
  }
}

extension HTTPQuery {
  // RFC 6749 §3.3.
  fileprivate mutating func addScopes(_ scopes: [String]) {
    if !scopes.isEmpty { add("scope", scopes.joined(separator: " ")) }
  }
}
