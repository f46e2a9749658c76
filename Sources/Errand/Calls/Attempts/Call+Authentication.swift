import ErrandFoundation

extension Call {
  /// Returns the credential source and account for a URL, or `nil` if requests to the URL are not authenticated.
  private func signIn(for url: URL) -> (source: any CredentialSource, account: String)? {
    guard let authentication = rules.authentication else { return nil }
    let isServers = plan.authentication.isInherited
    return authentication.source(for: url) { isServers ? snapshot.isTrusted($0) : true }
  }

  func account(for url: URL) -> String? { signIn(for: url)?.account }

  /// Whether the server refused the token, according to the request's authenticator.
  func refusesToken(_ response: HTTPResponse, to sent: HTTPRequest) -> Bool {
    rules.authentication != nil
      && signIn(for: sent.url)?.source.isAuthenticationFailure(response) ?? false
  }

  /// Returns the request for the next hop. The token is removed if the new URL uses a different token or none.
  func strippingTokens(_ next: HTTPRequest, after request: HTTPRequest) -> HTTPRequest {
    guard !next.options.credentialHeaders.isEmpty, signIn(for: next.url)?.source !== signIn(for: request.url)?.source
    else { return next }
    var next = next
    for name in next.options.credentialHeaders { next.headers.remove(name) }
    next.options.credentialHeaders = []
    return next
  }

  /// Authenticates a request and sends it. If the server refuses the token, resends the request with a new one.
  func authenticated(
    _ request: HTTPRequest, _ next: (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    guard rules.authentication != nil, let source = signIn(for: request.url)?.source else {
      return try await next(request)
    }
    let attempt = SigningAttempt(
      known: source.failureCount, yields: plan.authentication.isInherited, context: refreshContext,
      note: { [trace] in trace.note($0) })
    guard let signed = try await sign(request, refused: nil, source, attempt) else { return try await next(request) }
    var response = try await next(signed.request)
    guard signed.version > 0, judgesToken(response, to: request, source) else { return response }
    guard source.isAuthenticationFailure(response) else {
      source.accepted(signed.version)
      return response
    }
    source.refused(signed.version)
    guard source.isRefreshable else { return response }
    if let obstacle = obstacle(toReplaying: request, after: response) {
      noteRefusal(obstacle)
      return response
    }
    // Release a stream's connection while waiting for a token, unless the caller may get this response.
    if !response.body.isInMemory, !Answer(self, response).isAccepted {
      response.body = Excerpt.body(await excerpt(of: response.body), of: response.body)
    }
    guard let again = try await sign(request, refused: signed.version, source, attempt) else { return response }
    if let obstacle = spendReplay(of: again.request, with: source, version: again.version) {
      noteRefusal(obstacle)
      return response
    }
    response.body.cancel()
    let second = try await next(again.request)
    guard again.version > 0, judgesToken(second, to: again.request, source) else { return second }
    if source.isAuthenticationFailure(second) { source.refused(again.version) } else { source.accepted(again.version) }
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

  /// Whether a response shows if the request's token is valid. This is the case if every redirect stayed at the same
  /// origin and used the same credential source.
  private func judgesToken(
    _ response: HTTPResponse, to request: HTTPRequest, _ source: any CredentialSource
  ) -> Bool {
    let origin = Origin(request.url)
    return (response.redirects.map(\.url) + [response.url]).allSatisfy { url in
      Origin(url) == origin && signIn(for: url)?.source === source
    }
  }

  private func obstacle(toReplaying request: HTTPRequest, after response: HTTPResponse) -> String? {
    if let obstacle = obstacle(toAnswering: request) { return obstacle }
    // A refused request had no effect (RFC 9110 §15.5.2), but a redirected request may have had an effect at an earlier
    // hop.
    let isDirect = response.url == request.url && response.redirects.isEmpty
    return isDirect || request.isRepeatable(plan.idempotency) ? nil : Self.onceOnly(request.method)
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
      manager.dates, transmit: { [self] in try await send(tokenRequest: $0) }, complaint: { log.write($0) },
      redaction: snapshot.configuration.redaction)
  }

  /// Sends a token request as a separate call, with the settings in ``ServerConfiguration/forTokens``.
  private func send(tokenRequest request: HTTPRequest) async throws -> HTTPResponse {
    let server = Server(
      remote: .none, configuration: snapshot.configuration.forTokens, transport: transport, manager: manager,
      asDefault: false, environment: [:])
    var plan = TokenTask(server: server, request: request).plan
    plan.role = .token
    return try await Call.perform(plan, .memory) { $0.response }
  }
}

struct TokenTask: ServerTask {
  let server: Server
  let request: HTTPRequest

  var url: URL { request.url }
  var httpMethod: HTTPMethod { request.method }
  var headers: HTTPHeaders { request.headers }
  var priority: CallPriority { .urgent }
  var acceptedStatuses: AcceptedStatuses { .all }
  var echoStyle: EchoStyle { .none }
  var recordingStyle: RecordingStyle { .url }
  var authentication: Authentication { .none }
  /// Secrets must only be sent to the configured URL.
  var redirectPolicy: RedirectPolicy { .refuse }
  var cookiePolicy: CookiePolicy { .none }

  func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody { request.body }
}

extension ServerConfiguration {
  private static let largestTokenAnswer = 1 << 20

  /// The settings for token requests: limits, security, logging and recording, but no hooks, steps or server header
  /// fields.
  var forTokens: ServerConfiguration {
    var settings = ServerConfiguration()
    settings.standardHeaders = [:]
    settings.insecureHosts = insecureHosts
    settings.pins = pins
    settings.userAgent = userAgent
    settings.userAgentProvider = userAgentProvider
    settings.defaultTimeout = defaultTimeout
    settings.timeouts = timeouts
    settings.retryPolicy = retryPolicy
    settings.circuitBreaker = circuitBreaker
    settings.allowsExpensiveNetworkAccess = allowsExpensiveNetworkAccess
    settings.allowsConstrainedNetworkAccess = allowsConstrainedNetworkAccess
    settings.waitsForConnectivity = waitsForConnectivity
    settings.reachability = reachability
    settings.connectivityTimeout = connectivityTimeout
    settings.observers = observers
    settings.recorders = recorders
    settings.logStyle = logStyle
    settings.logOptions = logOptions
    settings.log = log
    settings.redaction = redaction
    settings.addressPolicy = addressPolicy
    settings.maximumBodySize = min(maximumBodySize, Self.largestTokenAnswer)
    return settings
  }
}
