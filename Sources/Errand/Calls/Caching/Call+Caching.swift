import ErrandFoundation

extension Call {
  /// 5. The cache, where there is one: answers by itself, or by `attempts`.
  @inline(__always)
  func throughCache(_ request: HTTPRequest, _ attempts: @escaping CacheRun.Attempts) async throws -> Outcome {
    guard let caching = surroundings?.caching else { return try await attempts(request) }
    return try await answer(request, from: caching, attempts)
  }

  private func answer(
    _ request: HTTPRequest, from caching: Caching, _ attempts: @escaping CacheRun.Attempts
  ) async throws -> Outcome {
    let run = CacheRun(self, judgesAddresses(request) ? caching.onlyRemoving : caching, request)
    state.withLock { $0.cacheRun = run }
    return try await run.answer(attempts)
  }

  // What is stored came from an address that the rule of the call was not asked about, and a hit would get past it.
  private func judgesAddresses(_ request: HTTPRequest) -> Bool {
    if !plan.addressPolicy.isInherited { return true }
    return !request.options.addressPolicy.allowsAll && snapshot.configuration.addressPolicy.allowsAll
  }

  /// The response of an attempt as it is read: stored meanwhile, where it may be.
  @inline(__always)
  func keepingCopy(_ response: HTTPResponse, of attempt: Attempt) async throws -> HTTPResponse {
    guard keepsRequests else { return response }
    return try await stored(response, of: attempt)
  }

  /// True where requests are kept as they are sent, for the cache and for calls that share them.
  @inline(__always)
  var keepsRequests: Bool { surroundings?.caching != nil || snapshot.configuration.coalescesRequests }

  private func stored(_ response: HTTPResponse, of attempt: Attempt) async throws -> HTTPResponse {
    guard let sent = attempt.lastRequest else { return response }  // a step has answered by itself
    await forget(response, to: sent)
    guard let run = state.withLock({ $0.cacheRun }) else { return response }
    let underway = trace.elapsed - attempt.startTime
    do {
      return try await run.received(response, to: sent, at: manager.date.addingTimeInterval(-underway.inSeconds))
    } catch {
      response.body.cancel()
      throw error
    }
  }

  /// Removes what a response to a request says is stale, and has no call join what was sent before.
  func forget(_ response: HTTPResponse, to sent: HTTPRequest) async {
    guard keepsRequests else { return }
    for url in Invalidation.urls(sent, response) {
      manager.invalidations.note(url)
      manager.flights.close(url)
      await surroundings?.caching?.store.removeAll(for: url)
    }
  }

  /// Notes that a stored response answers.
  func noteStored(_ request: HTTPRequest, _ status: CacheStatus) {
    state.withLock { state in
      state.method = request.method
      state.url = request.url
    }
    trace.note(.cacheAnswered(status))
  }

  /// Validates a stored response that was used stale, in a call of its own: one at a time for each URL and credential.
  func validateAfterwards(_ key: CacheKey) {
    var plan = plan
    plan.task = UnseenTask(base: plan.task)
    plan.cachePolicy = .validated
    plan.priority = .low
    plan.serialQueue = .none
    plan.control = nil
    plan.timeouts.call = nil
    let desk = manager.revalidations
    guard desk.begin(key, of: plan.server) else { return }
    Task { [plan] in
      defer { desk.end(key, of: plan.server) }
      // The caller has a response; what fails here is in the events.
      _ = try? await Call.perform(plan, .discarded) { $0.response }
    }
  }
}

extension Surroundings {
  /// The cache of a call; nil where it has none.
  static func caching(_ plan: TaskPlan, _ snapshot: ServerSnapshot) -> Caching? {
    let policy = plan.cachePolicy.mode == .inherited ? snapshot.configuration.cachePolicy : plan.cachePolicy
    if let store = snapshot.configuration.cache, let credentials = snapshot.credentials {
      return Caching(store: store, policy: policy, credentials: credentials)
    }
    // A call that wants nothing sent sends nothing, be there a cache or not; and a preloaded response needs none.
    guard policy.mode == .cacheOnly || plan.preloaded != nil else { return nil }
    let credentials = CacheCredentials(snapshot.configuration.redaction)
    return Caching(store: MemoryCache(byteLimit: 0), policy: policy, credentials: credentials)
  }
}

/// The task of a call that another call makes for itself: the same, without the hooks that tell of progress.
struct UnseenTask: ServerTask {
  let base: any ServerTask

  var server: Server { base.server }
  var path: String { base.path }
  var query: HTTPQuery { base.query }
  var url: URL { get async throws { try await base.url } }
  var headers: HTTPHeaders { base.headers }
  var taskTag: String { base.taskTag }

  func preflight(_ request: inout HTTPRequest) async throws { try await base.preflight(&request) }
  func verify(_ response: HTTPResponse) throws { try base.verify(response) }
}

/// The validations under way.
final class RevalidationDesk: Sendable {
  private struct Place: Hashable {
    let server: ObjectIdentifier
    let key: CacheKey
  }

  private let places = Lock<Set<Place>>([])

  /// False where one is under way already.
  func begin(_ key: CacheKey, of server: Server) -> Bool {
    places.withLock { $0.insert(Place(server: ObjectIdentifier(server), key: key)).inserted }
  }

  func end(_ key: CacheKey, of server: Server) {
    places.withLock { _ = $0.remove(Place(server: ObjectIdentifier(server), key: key)) }
  }
}
