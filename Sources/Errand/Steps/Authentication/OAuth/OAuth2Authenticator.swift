import ErrandFoundation

/// Tokens of OAuth 2: the refresh token where there is one, else the grant.
final class OAuth2Authenticator: Authenticator {
  private struct State {
    /// True once the code, or the refresh token, of the grant was sent.
    var hasUsedGrant = false
    /// The refresh token that was refused.
    var refused: String?
    /// The mark of the sign-in that the token is of.
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
      let stored = try? JSONDecoder().decode(StoredToken.self, from: data)  // what others wrote there is no token
    else { return nil }
    return state.withLock { take(stored, &$0) ? stored.token : nil }
  }

  /// True for a token that is of this sign-in, and not of another one, perhaps by another user.
  private func take(_ stored: StoredToken, _ state: inout State) -> Bool {
    guard let origin = settings.grant.origin else {
      state.origin = stored.origin ?? ""
      return true
    }
    let isCode = if case .code = settings.grant.kind { true } else { false }
    if stored.origin == origin {
      // Whoever sends a code again may lose what came for it (RFC 6749 §4.1.2).
      if isCode { state.hasUsedGrant = true }
      return true
    }
    // The app has stored it itself: for this sign-in, unless a code says that there was another one.
    return stored.origin == nil && (!isCode || state.hasUsedGrant)
  }

  func freshness(of token: AccessToken, at now: Date) -> TokenFreshness {
    token.value.isBearerToken ? token.freshness(at: now, leeway: settings.leeway) : .ended
  }

  func apply(_ token: AccessToken, to request: inout HTTPRequest) throws { try request.setBearer(token.value) }

  func isAuthenticationFailure(_ response: HTTPResponse) -> Bool { response.refusesBearer }

  func forget() async throws { try await store.setSecret(nil, named: name) }

  func refresh(_ token: AccessToken?, _ context: RefreshContext) async throws -> AccessToken? {
    let latest = try await latest(token)
    // Another process, or another client of the same store, has been here before.
    if let latest, latest.value != token?.value, freshness(of: latest, at: context.now) == .good { return latest }
    do {
      if let token = try await renewed(latest, context) { return token }
      return try await begin(context)
    } catch let refusal as OAuth2.Refusal {
      throw error(for: refusal, context)
    }
  }

  /// The token for the refresh token of another one; nil where there is none that is good, and the grant gives another.
  private func renewed(_ latest: AccessToken?, _ context: RefreshContext) async throws -> AccessToken? {
    var (latest, next) = (latest, usableRefreshToken(of: latest))
    while let refreshToken = next {
      do {
        return try await renewed(by: refreshToken, context)
      } catch let refusal as OAuth2.Refusal where refusal.code == "invalid_grant" {
        state.withLock { $0.refused = refreshToken }
        // Another process may have used it up, and stored what it got for it.
        let stored = try await storedToken()
        let isLater = stored.map { $0.issued > latest?.issued ?? .distantPast } ?? false
        if isLater, let stored, freshness(of: stored, at: context.now) == .good { return stored }
        let other = isLater ? stored?.refreshToken : nil
        // What the grant gives once, it has given: to whoever stored that token.
        guard other != nil && other != refreshToken || settings.grant.isRepeatable else { throw refusal }
        (latest, next) = (stored, other == refreshToken ? nil : other)
      }
    }
    return nil
  }

  /// The later of a token and the stored one: what could not be stored is still known.
  private func latest(_ token: AccessToken?) async throws -> AccessToken? {
    guard let stored = try await storedToken() else { return token }
    guard let token else { return stored }
    return stored.issued > token.issued ? stored : token
  }

  /// A refresh token that was neither used up nor refused.
  private func usableRefreshToken(of token: AccessToken?) -> String? {
    let state = state.withLock { $0 }
    if let token = token?.refreshToken, token != state.refused { return token }
    if case .refreshToken(let token) = settings.grant.kind, !state.hasUsedGrant, token != state.refused { return token }
    return nil
  }

  // MARK: What is sent once

  /// Ends an exchange, and stores its token, also where that is cancelled: what it sends is used up, and the next token would be lost.
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

  /// A token for a refresh token, which is sent once.
  private func renewed(by refreshToken: String, _ context: RefreshContext) async throws -> AccessToken {
    try await concluding(context) { [self] in
      var grant: HTTPQuery = ["grant_type": "refresh_token", "refresh_token": refreshToken]
      grant.addScopes(settings.scopes)
      var token = try await endpoint.token(grant, context)
      // RFC 6749 §6: without a new one, the old one stays.
      token.refreshToken = token.refreshToken ?? refreshToken
      if case .refreshToken(refreshToken) = settings.grant.kind { state.withLock { $0.hasUsedGrant = true } }
      return token
    }
  }

  /// Stores a token before it is used. Where that fails it is used all the same: the one before is of no use any more.
  private func keep(_ token: AccessToken, _ context: RefreshContext) async {
    do {
      let stored = StoredToken(token, origin: state.withLock { $0.origin })
      try await store.setSecret(try JSONEncoder().encode(stored), named: name)
    } catch {
      context.complain("the token of \(settings) is not stored, and is lost when the process ends: \(error)")
    }
  }

  // MARK: The grant

  private func begin(_ context: RefreshContext) async throws -> AccessToken {
    let token: AccessToken
    switch settings.grant.kind {
    case .clientCredentials: token = try await endpoint.token(grant("client_credentials"), context)
    case .password(let credential):
      let password: HTTPQuery = ["username": credential.user, "password": credential.password]
      token = try await endpoint.token(grant("password", password), context)
    case .refreshToken: throw signInRequired("the refresh token is used up")
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
    if wasUsed { throw signInRequired("the authorization code was used, and no refresh token came for it") }
    // RFC 6749 §4.1.3: the scopes are those of the code.
    var grant: HTTPQuery = ["grant_type": "authorization_code", "code": code]
    if let redirectURL { grant.add("redirect_uri", redirectURL.absoluteString) }
    if let verifier { grant.add("code_verifier", verifier) }
    return try await concluding(context) { [self, grant] in
      do {
        return try await endpoint.token(grant, context)
      } catch let error as TaskError where error.isSurelyNotSent {
        state.withLock { $0.hasUsedGrant = false }
        throw error
      } catch let refusal as OAuth2.Refusal where refusal.code == "invalid_grant" {
        // Another process has redeemed it by now, or the app, which has stored what it got.
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
      .signInRequired, "\(settings): \(reason): sign in again, and set authentication anew", phase: .authenticating,
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
      return signInRequired("the \(settings.grant) was refused with \(words)", refusal)
    }
    let advice = OAuth2.advice(for: refusal.code, refusal.status).map { ": \($0)" } ?? ""
    var error = TaskError(
      .authenticationFailed, "\(settings): no token by \(settings.grant): \(words)\(advice)", phase: .authenticating,
      underlying: refusal)
    error.status = refusal.status
    error.body = refusal.body
    return error
  }
}

extension OAuth2.Grant {
  /// True where it gives another token when no refresh token is left.
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
