import ErrandFoundation

extension Call {
  /// Returns the rules that authenticate requests to a URL, in order.
  private func rules(for url: URL) -> [AuthenticationRule] {
    rules.authentication?.rules(for: url) { snapshot.isTrusted($0) } ?? []
  }

  private func sources(for request: HTTPRequest) -> [any CredentialSource] {
    rules(for: request.url).map { $0.source(for: request) }
  }

  /// Returns the account that authenticates a request. `nil` if the request is not authenticated.
  func account(of request: HTTPRequest) -> RequestAccount? {
    rules.authentication?.account(of: request) { snapshot.isTrusted($0) }
  }

  /// The authentication of this call's validations and shared requests, which must use the same tokens.
  var ownAuthentication: Authentication { rules.authentication?.settings ?? .none }

  /// Whether the server refused a token, according to one of the request's authenticators.
  func refusesToken(_ response: HTTPResponse, to sent: HTTPRequest) -> Bool {
    sources(for: sent).contains { $0.isAuthenticationFailure(response) }
  }

  /// Returns the request that follows a redirect. The tokens are removed if the new URL uses different tokens or none.
  func strippingTokens(_ next: HTTPRequest, after request: HTTPRequest) -> HTTPRequest {
    guard !next.options.credentialHeaders.isEmpty || next.options.hasAuthenticatedDigest,
      !sources(for: next).elementsEqual(sources(for: request), by: ===)
    else { return next }
    var next = next
    for name in next.options.credentialHeaders { next.headers.remove(name) }
    (next.options.credentialHeaders, next.options.signers) = ([], [])
    if next.options.hasAuthenticatedDigest { next.options.digest = nil }
    return next
  }

  /// Authenticates a request and sends it.
  func authenticated(
    _ request: HTTPRequest, of attempt: Attempt, _ next: (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    guard rules.authentication != nil else { return try await next(request) }
    return try await authenticated(
      request, of: attempt, by: ArraySlice(rules(for: request.url)), keeping: request, next)
  }

  /// Applies the rules to a request in order, each nested in the previous one.
  private func authenticated(
    _ request: HTTPRequest, of attempt: Attempt, by rules: ArraySlice<AuthenticationRule>, keeping kept: HTTPRequest,
    _ next: (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    guard let rule = rules.first else { return try await next(request) }
    return try await authenticated(request, of: attempt, by: rule, keeping: kept) { request in
      try await authenticated(request, of: attempt, by: rules.dropFirst(), keeping: kept, next)
    }
  }

  /// Authenticates a request and sends it. If the server refuses the token, resends the request with a new one.
  private func authenticated(
    _ request: HTTPRequest, of attempt: Attempt, by rule: AuthenticationRule, keeping kept: HTTPRequest,
    _ next: (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    let source = rule.source(for: request)
    let signing = SigningAttempt(
      known: source.failureCount, kept: rule.isServers ? kept : nil, context: refreshContext,
      remaining: { [self] in remaining },
      note: { [trace] in trace.note($0) })
    guard let signed = try await sign(request, refused: nil, source, signing) else { return try await next(request) }
    var response = try await next(signed.request)
    guard let version = signed.version, judgesToken(response, to: request, source) else { return response }
    guard source.isAuthenticationFailure(response) else {
      source.accepted(version)
      return response
    }
    source.refused(version, by: response)
    guard source.isRefreshable else { return response }
    if let obstacle = obstacle(toReplaying: request, of: attempt, after: response) {
      noteRefusal(obstacle)
      return response
    }
    // Release a stream's connection while waiting for a token, unless the caller may get this response.
    if !response.body.isInMemory, !Outcome(self, response).isAccepted {
      response.body = Excerpt.body(await excerpt(of: response.body), of: response.body)
    }
    guard let again = try await sign(request, refused: version, source, signing) else { return response }
    if let obstacle = spendReplay(of: again.request, with: source, version: again.version ?? 0) {
      noteRefusal(obstacle)
      return response
    }
    response.body.cancel()
    let second = try await next(again.request)
    guard let version = again.version, judgesToken(second, to: again.request, source) else { return second }
    if source.isAuthenticationFailure(second) {
      source.refused(version, by: second)
    } else {
      source.accepted(version)
    }
    return second
  }

  private func sign(
    _ request: HTTPRequest, refused: Int?, _ source: any CredentialSource, _ attempt: SigningAttempt
  ) async throws -> SignedRequest? {
    do {
      return try await source.sign(request, refused: refused, for: attempt)
    } catch var error as TaskError {
      error.isTokenFailure = true
      throw error
    }
  }

  /// Whether a response shows if the request's token is valid. This is the case if every redirect stayed on the same
  /// origin and used the same token.
  private func judgesToken(
    _ response: HTTPResponse, to request: HTTPRequest, _ source: any CredentialSource
  ) -> Bool {
    let origin = Origin(request.url)
    return (response.redirects.map(\.url) + [response.url]).allSatisfy { url in
      var hop = request
      hop.url = url
      return Origin(url) == origin && sources(for: hop).contains { $0 === source }
    }
  }

  private func obstacle(
    toReplaying request: HTTPRequest, of attempt: Attempt, after response: HTTPResponse
  ) -> String? {
    if let obstacle = obstacle(toAnswering: request) { return obstacle }
    // A refused request had no effect (RFC 9110 §15.5.2), but a redirected request may have had an effect at an earlier
    // URL.
    let isDirect = response.url == request.url && response.redirects.isEmpty
    return isDirect ? nil : attempt.sent.onceOnly.map(Self.onceOnly)
  }

  /// Returns the reason not to answer a challenge, or `nil` if it can be answered. A challenged request had no effect,
  /// so it can be resent even if its method is not idempotent.
  func obstacle(toAnswering request: HTTPRequest) -> String? {
    guard request.body.isReplayable else { return "the request body can only be read once" }
    return plan.idempotency == .neverRepeat ? Self.onceOnly(request.method) : nil
  }

  /// Charges a resent request to the host's retry budget, once for all requests that use the same new token.
  private func spendReplay(of request: HTTPRequest, with source: any CredentialSource, version: Int) -> String? {
    guard let host = Origin(request.url) else { return nil }
    return source.spend(version) { manager.retries.spend(for: host) } ? nil : Self.exhausted(host)
  }

  private var refreshContext: RefreshContext {
    let log = snapshot.configuration.log
    return RefreshContext(
      manager.dates, transmit: { [self] in try await send(tokenRequest: $0, $1, $2) }, complaint: { log.write($0) },
      redaction: snapshot.configuration.redaction)
  }

  /// Sends a token request as a separate call, with the settings in ``ServerConfiguration/forTokens``.
  private func send(
    tokenRequest request: HTTPRequest, _ retry: TokenRetry?, _ remaining: @escaping @Sendable () -> Duration?
  ) async throws -> HTTPResponse {
    let server = Server(
      .none, configuration: snapshot.configuration.forTokens, transport: transport, manager: manager,
      asDefault: false, environment: [:])
    var plan = TokenTask(server: server, request: request).plan
    plan.role = .token(isRetried: retry != nil, waiters: remaining)
    if let retry {
      var policy = retry.policy.isInherited ? server.configuration.retryPolicy : retry.policy
      policy.maximumUploadDelay = min(policy.maximumUploadDelay, policy.maximumDownloadDelay)  // calls wait for it
      plan.retryPolicy = policy
      plan.idempotency = retry.idempotency(of: request)
      plan.acceptedStatuses = .any  // returned after the last retry
    }
    return try await Call.perform(plan, .memory) { $0.response }
  }
}
