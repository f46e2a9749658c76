extension Call {
  /// The task's rule for redirects, else the server's.
  var redirectPolicy: RedirectPolicy {
    plan.redirectPolicy.kind == .inherited ? snapshot.configuration.redirectPolicy : plan.redirectPolicy
  }

  /// Sends a request, and follows redirects. Each request is admitted for its own host, all within the time of the attempt.
  ///
  /// - Returns: The first response that is not a redirect, or that the policy does not follow.
  /// - Throws: ``TaskError`` for a redirect that must not be followed, and what the policy or `next` throws.
  func followingRedirects(
    _ request: HTTPRequest, of attempt: Attempt, _ next: (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    attempt.beginChain()
    let request = keepingHeadersHome(showing(request))
    let response = try await next(request)
    guard response.status.isRedirect else { return response }
    return try await following(response, to: request, attempt, next)
  }

  private func following(
    _ first: HTTPResponse, to request: HTTPRequest, _ attempt: Attempt,
    _ send: (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    let policy = redirectPolicy
    var chain = RedirectChain(request, policy, snapshot.configuration.redaction)
    var response = first
    while response.status.isRedirect {
      await forget(response, to: chain.request)  // whatever becomes of the next hop
      do {
        guard let next = try await next(after: response, chain, policy, attempt) else { break }
        try chain.follow(response, with: next)
      } catch {
        response.body.cancel()
        throw Self.afterFirst(error)
      }
      await leave(response, to: chain.redirects.last?.method, attempt)
      try checkCancellation()
      trace.note(.redirected(to: snapshot.configuration.redaction(chain.request.url)))
      var next = chain.request
      next.options.firstURL = request.url  // by which cookies tell whether another site leads there
      response = try await further(next, of: attempt, send)
    }
    response.redirects = chain.redirects
    return response
  }

  /// The next request; nil where the response stands.
  private func next(
    after response: HTTPResponse, _ chain: RedirectChain, _ policy: RedirectPolicy, _ attempt: Attempt
  ) async throws -> HTTPRequest? {
    let proposal = try chain.proposal(response) { field, url in
      snapshot.isHome(url) && state.withLock { $0.serverHeaders }.fields.contains(field)
    }
    // For good: a later hop that comes back does not get them again.
    let home = proposal.map { keepingHome($0, after: chain.request) }
    guard let proposal = home else { return nil }
    attempt.endHop()
    guard let decision = policy.decision else { return proposal }
    defer { attempt.restart() }
    var head = response
    head.body = HTTPResponseBody()
    let changed = try await decision(head, proposal)
    return changed.map { keepingHome(chain.allowed($0, for: proposal), after: proposal) }
  }

  private func keepingHome(_ request: HTTPRequest, after previous: HTTPRequest) -> HTTPRequest {
    keepingTokensInPlace(keepingEventIDHome(keepingHeadersHome(request)), after: previous)
  }

  /// The request without the number of the last event, where that came from elsewhere: it says what was read there.
  private func keepingEventIDHome(_ request: HTTPRequest) -> HTTPRequest {
    guard let origins = plan.eventOrigins, Origin(request.url).map({ origins.contains($0) }) != true else {
      return request
    }
    var request = request
    request.headers.remove(.lastEventID)
    return request
  }

  /// Ends the body of a response behind which another request goes out.
  func leave(_ response: HTTPResponse, to method: HTTPMethod?, _ attempt: Attempt) async {
    _ = await beginning(of: response, to: method)
    if trace.keepsNotes, let timings = response.body.timings { attempt.keepPhases(timings, at: trace.elapsed) }
  }

  /// Sends another request of an attempt, with what is left of its time.
  ///
  /// - Parameters:
  ///   - request: The request, with the limits that counted from `start` on.
  ///   - attempt: The attempt.
  ///   - start: What the hops before had taken by then; nil for the first request of a redirect's hop, whose limits counted from the
  ///     start of the attempt.
  ///   - send: Sends it.
  /// - Returns: The response.
  /// - Throws: What `send` throws, and ``TaskError`` where no time is left.
  func further(
    _ request: HTTPRequest, of attempt: Attempt, since start: Duration? = nil,
    _ send: (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    var request = request
    limitStreams(of: &request)
    let limits = request.options.timeouts
    request.options.timeouts = try attempt.limits(limits, since: start)
    do {
      return try await send(request)
    } catch var error as TaskError {
      // The limit that was reached is the attempt's, not what was left of it.
      let limit: Duration? =
        switch error.timer {
        case .attempt: limits.attempt
        case .connect: limits.connect
        case .firstByte: limits.firstByte
        default: nil
        }
      if let limit, error.isUnattributed, error.limit != limit { error = error.relimited(to: limit) }
      throw Self.afterFirst(error)
    }
  }

  /// An error of a later hop, or of what decides on it. A request was sent, the first: a step around this must not take the
  /// whole for unsent.
  private static func afterFirst(_ error: any Error) -> any Error {
    guard var error = error as? TaskError, error.isSurelyNotSent else { return error }
    error.isSurelyNotSent = false
    return error
  }
}
