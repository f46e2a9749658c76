extension Call {
  /// The task's redirect policy, or the server's.
  var redirectPolicy: RedirectPolicy {
    plan.redirectPolicy.kind == .inherited ? snapshot.configuration.redirectPolicy : plan.redirectPolicy
  }

  /// Sends a request and follows redirects. Every request waits for a slot at its host, and all requests share the
  /// attempt's time limit. Throws ``TaskError`` for a redirect that must not be followed, or any error thrown by the
  /// policy.
  func followingRedirects(
    _ request: HTTPRequest, of attempt: Attempt, _ next: (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    let start = attempt.spent  // if a step resends the request, each redirect chain is timed separately
    var request = strippingServerHeaders(request)
    if !request.options.redirects.isEmpty { request.options.redirects = [] }  // a step resent the request of a response
    let response = try await next(request)
    guard response.status.isRedirect else { return response }
    return try await following(response, to: request, attempt, since: start, next)
  }

  private func following(
    _ first: HTTPResponse, to request: HTTPRequest, _ attempt: Attempt, since start: Duration,
    _ send: (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    let policy = redirectPolicy
    var chain = RedirectChain(request, policy, snapshot.configuration.redaction)
    var response = first
    while response.status.isRedirect {
      do {
        guard let next = try await next(after: response, chain, policy) else { break }
        try chain.follow(response, with: next)
      } catch {
        response.body.cancel()
        throw TaskError.sent(error)  // the first request was sent
      }
      await leave(response, to: chain.redirects.last?.method, attempt)
      try checkCancellation()
      trace.note(.redirected(to: snapshot.configuration.redaction(chain.request.url)))
      var next = chain.request
      next.options.redirects = chain.redirects
      response = try await further(next, of: attempt, since: start, atOtherHosts: true, send)
    }
    return response
  }

  private func next(
    after response: HTTPResponse, _ chain: RedirectChain, _ policy: RedirectPolicy
  ) async throws -> HTTPRequest? {
    let proposal = try chain.proposal(response) { field, url in
      snapshot.isTrusted(url) && state.withLock { $0.serverHeaders }.fields.contains(field)
    }
    // Remove these fields permanently: a later redirect back to the origin must not restore them.
    let home = proposal.map { strippingCredentials($0, after: chain.request) }
    guard let proposal = home else { return nil }
    guard let decision = policy.decision else { return proposal }
    var head = response
    head.body = HTTPResponseBody()
    let changed = try await decision(head, proposal)
    return changed.map {
      strippingCredentials(chain.allowed(withOptions($0, of: proposal), for: proposal), after: proposal)
    }
  }

  private func strippingCredentials(_ request: HTTPRequest, after previous: HTTPRequest) -> HTTPRequest {
    strippingTokens(strippingEventID(strippingServerHeaders(request)), after: previous)
  }

  /// Returns the request without `Last-Event-ID` if the ID came from another origin, because it reveals what was read
  /// there. The request goes to another origin after a redirect, or if the task's URL has changed.
  func strippingEventID(_ request: HTTPRequest) -> HTTPRequest {
    guard let origins = plan.eventOrigins, Origin(request.url).map({ origins.contains($0) }) != true else {
      return request
    }
    var request = request
    request.headers.remove(.lastEventID)
    return request
  }

  func leave(_ response: HTTPResponse, to method: HTTPMethod?, _ attempt: Attempt) async {
    _ = await beginning(of: response, to: method)
    attempt.endExchange()  // the exchange includes reading the body
  }

  /// Sends another request within the attempt's remaining time. The request's limits count from `start`, a value of
  /// ``Attempt/spent``. Throws ``TaskError`` if no time is left.
  func further(
    _ request: HTTPRequest, of attempt: Attempt, since start: Duration, atOtherHosts: Bool,
    _ send: (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    var request = request
    limitStreams(of: &request)
    let limits = request.options.timeouts
    request.options.timeouts = try attempt.rest(of: limits, since: start, atOtherHosts: atOtherHosts)
    do {
      return try await send(request)
    } catch var error as TaskError {
      // Report the attempt's limit, not the remaining time.
      let limit: Duration? =
        switch error.timer {
        case .attempt: limits.attempt
        case .connect: limits.connect
        case .firstByte: limits.firstByte
        default: nil
        }
      if let limit, error.isUnattributed, error.limit != limit { error = error.relimited(to: limit) }
      throw TaskError.sent(error)  // the first request was sent
    }
  }
}
