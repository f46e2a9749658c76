import ErrandFoundation

extension Call {
  /// 5. Passes the request through the cache, if there is one. Otherwise runs `attempts`.
  func throughCache(_ request: HTTPRequest, _ attempts: @escaping CacheRun.Attempts) async throws -> Outcome {
    guard let caching = rules.caching else { return try await attempts(request, nil) }
    return try await answer(request, from: caching, attempts)
  }

  private func answer(
    _ request: HTTPRequest, from caching: Caching, _ attempts: @escaping CacheRun.Attempts
  ) async throws -> Outcome {
    try await CacheRun(self, judgesConnections(request) ? caching.onlyRemoving : caching, request).answer(attempts)
  }

  // Stored responses were received over connections that these rules did not check, so a hit would bypass the rules.
  private func judgesConnections(_ request: HTTPRequest) -> Bool {
    if !plan.addressPolicy.isInherited || request.options.pins != snapshot.configuration.pins { return true }
    let policy = request.options.addressPolicy
    return !policy.allowsAll && policy.identity != snapshot.configuration.addressPolicy.identity
  }

  /// Whether other calls may get this call's response, from the cache or by sharing a request.
  var sharesResponses: Bool { rules.caching != nil || snapshot.configuration.coalescesRequests }

  func store(_ outcome: inout Outcome, _ run: CacheRun?, of attempt: Attempt) async {
    // Without a request, a step answered it.
    guard let run, let sent = outcome.response.request, let start = attempt.start else { return }
    let underway = trace.elapsed - start
    await run.received(&outcome, to: sent, at: manager.dates.now.addingTimeInterval(-underway.inSeconds))
  }

  /// Removes stored responses that this response invalidates and closes flights for the same URLs to new calls.
  func forget(_ response: HTTPResponse, to sent: HTTPRequest) async {
    await forget(Invalidation.urls(sent, response))
  }

  /// Does the same for an unsafe request without a response, because the server may have processed it.
  func forget(unanswered request: HTTPRequest) async {
    guard !request.method.isSafe else { return }
    await forget([CacheKey.text(of: request.url.absoluteString)])
  }

  private func forget(_ urls: [String]) async {
    for url in urls {
      manager.invalidations.note(url)
      manager.flights.close(url)
      await rules.caching?.store.removeAll(for: url)
    }
  }

  func noteStored(_ request: HTTPRequest, _ status: CacheStatus) {
    state.withLock { $0.shown = (request.method, request.url) }
    trace.note(.cacheAnswered(status))
  }
}
