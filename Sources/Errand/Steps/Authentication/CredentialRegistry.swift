/// Keeps one of an authenticator's tokens and refreshes it once for all waiting callers.
final class CredentialRegistry<Method: Authenticator>: CredentialSource {
  private typealias Machine = RefreshMachine<Method.Token>
  private typealias SharedResult = Result<Machine.Versioned?, any Error>

  private struct Waiting {
    let waiter: Waiter<SharedResult>
    let record: RefreshWait
    let remaining: @Sendable () -> Duration?
  }

  private struct Underway: Sendable {
    let number: Int
    let context: RefreshContext
    /// The request used to check that a new token can be sent.
    let request: HTTPRequest
  }

  private struct State {
    var machine = Machine()
    var waiters: [Int: Waiting] = [:]
    var lastID = 0
    /// Whether the stored token has been loaded. From then on, callers wait for a refresh, not for the store.
    var hasLoaded: Bool
    /// The head of the latest response that rejected the current token, or a request without a token.
    var rejection: HTTPResponse?
    /// The token version whose retries have been charged to the retry budget.
    var paidVersion = 0
    /// The number of refreshes started so far.
    var flights = 0
    /// The running refresh.
    var flight: Task<Void, Never>?
    var forgetCount: Int

    /// Releases a refresh that has ended. A Swift task keeps its memory until it is released.
    mutating func release(_ number: Int) {
      if number == flights { flight = nil }
    }
  }

  private let method: Method
  private let owner: TokenOwner
  let key: String
  /// The latest removal of the stored token. A refresh waits until it ends.
  private let removal: Task<Void, any Error>?
  private let state: Lock<State>

  init(
    _ method: Method, _ owner: TokenOwner, key: String, forgetCount: Int = 0, removal: Task<Void, any Error>? = nil
  ) {
    self.method = method
    self.owner = owner
    self.key = key
    // A token that has been forgotten must not be loaded.
    state = Lock(State(hasLoaded: forgetCount > 0, forgetCount: forgetCount))
    self.removal = removal
  }

  var isRefreshable: Bool { method.isRefreshable }

  var forgetCount: Int { state.withLock { $0.forgetCount } }

  var isClosed: Bool { state.withLock { $0.machine.isClosed } }

  var failureCount: Int { state.withLock { $0.machine.failureCount } }

  func isAuthenticationFailure(_ response: HTTPResponse) -> Bool { method.isAuthenticationFailure(response) }

  func accepted(_ version: Int) { state.withLock { $0.machine.accepted(version) } }

  func refused(_ version: Int, by response: HTTPResponse) {
    let head = HTTPResponse(response.status, url: response.url, headers: response.headers, version: response.version)
    state.withLock { state in
      state.machine.refused(version)
      if version == state.machine.current?.version ?? 0 { state.rejection = head }
    }
  }

  func spend(_ version: Int, _ take: () -> Bool) -> Bool {
    if state.withLock({ $0.paidVersion >= version }) { return true }
    let isPaid = take()
    return state.withLock { state in
      if isPaid { state.paidVersion = max(version, state.paidVersion) }
      return state.paidVersion >= version
    }
  }

  // MARK: Signing

  func sign(_ request: HTTPRequest, refused: Int?, for attempt: SigningAttempt) async throws -> SignedRequest? {
    let signed = try await signedByToken(request, refused: refused, attempt)
    if isClosed { throw TaskError.forgotten }  // after the token was read
    return signed
  }

  private func signedByToken(
    _ request: HTTPRequest, refused: Int?, _ attempt: SigningAttempt
  ) async throws -> SignedRequest? {
    if let refused {
      guard let later = try await token(beyond: refused, for: request, attempt) else { return nil }
      return try signed(request, later, attempt)
    }
    return try signed(request, try await presentToken(for: request, attempt), attempt)
  }

  private func presentToken(for request: HTTPRequest, _ attempt: SigningAttempt) async throws -> Machine.Versioned? {
    let (present, isRefused, forgetCount) = state.withLock {
      ($0.machine.current, $0.machine.isRefused, $0.forgetCount)
    }
    guard let present else { return try await token(beyond: 0, for: request, attempt) }
    let freshness = method.freshness(of: present.token, at: attempt.context.now)
    if freshness == .good, !isRefused { return present }
    do {
      let isUrgent = freshness == .ended || isRefused
      let later = try await token(beyond: present.version, isUrgent: isUrgent, for: request, attempt)
      return later ?? (hasForgotten(since: forgetCount) ? nil : present)
    } catch
      where freshness == .expiring && !isRefused && !hasForgotten(since: forgetCount)
      && !(error is CancellationError)
    {
      return present
    }
  }

  private func signed(
    _ request: HTTPRequest, _ present: Machine.Versioned?, _ attempt: SigningAttempt
  ) throws -> SignedRequest {
    guard let present else { return SignedRequest(request: request, version: 0) }
    var signed = request
    try method.apply(present.token, to: &signed)
    let names = Set(
      (request.headers.map(\.name) + signed.headers.map(\.name)).filter {
        signed.headers.values(for: $0) != request.headers.values(for: $0)
      })
    let setsDigest = signed.options.digest != request.options.digest
    // Don't replace what the task or a hook has set.
    if let kept = attempt.kept,
      names.contains(where: kept.headers.contains) || (setsDigest && kept.options.digest != nil)
    {
      return SignedRequest(request: request, version: nil)
    }
    signed.options.credentialHeaders.formUnion(names)
    signed.options.signers.append(self)
    if setsDigest { signed.options.authenticatedDigest = signed.options.digest }
    return SignedRequest(request: signed, version: present.version)
  }

  // MARK: Waiting

  /// Returns a token newer than `version`, waiting for a refresh if necessary. Returns `nil` if no such token is
  /// available yet.
  private func token(
    beyond version: Int, isUrgent: Bool = true, for request: HTTPRequest, _ attempt: SigningAttempt
  ) async throws -> Machine.Versioned? {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    let record = RefreshWait(attempt.note)
    defer { record.end() }
    guard let wait = owner.node.beginWait() else {
      // The requests of a refresh are not authenticated by a source that waits for that refresh.
      if RefreshScope.isActive { return nil }
      throw TaskError(
        .reentrantQueue,
        "waiting for a new token would deadlock because the token request waits for a serial queue, or for another call, that waits for this call: don't run token requests in a serial queue",
        phase: .authenticating, wasNotSent: true)
    }
    defer { wait.end() }
    let answer: SharedResult = await answer { waiter in
      let waiting = Waiting(waiter: waiter, record: record, remaining: attempt.remaining)
      return demand(version, isUrgent, id, waiting, request, attempt)
    } onCancel: {
      leave(id)
    }
    return try answer.get()
  }

  /// Returns the answer if it is already known. Otherwise, queues the waiter and ensures that a refresh is running.
  private func demand(
    _ version: Int, _ isUrgent: Bool, _ id: Int, _ waiting: Waiting, _ request: HTTPRequest, _ attempt: SigningAttempt
  ) -> SharedResult? {
    let now = attempt.context.clock.now
    let (answer, flight, hasLoaded) = state.withLock { state -> (SharedResult?, Int?, Bool) in
      if Task.isCancelled { return (.failure(CancellationError()), nil, true) }
      switch state.machine.demand(beyond: version, known: attempt.known, isUrgent: isUrgent, id: id, at: now) {
      case .use(let token): return (.success(token), nil, true)
      case .none: return (.success(nil), nil, true)
      case .fail(let error): return (.failure(error), nil, true)
      case .wait:
        state.waiters[id] = waiting
        return (nil, nil, state.hasLoaded)
      case .begin:
        state.waiters[id] = waiting
        state.flights += 1
        return (nil, state.flights, state.hasLoaded)
      }
    }
    if answer == nil, hasLoaded { waiting.record.begin() }
    if let flight { begin(Underway(number: flight, context: attempt.context, request: request)) }
    return answer
  }

  /// Removes a waiting caller. Cancels the refresh if this was the last caller.
  private func leave(_ id: Int) {
    let (waiting, flight) = state.withLock { state -> (Waiting?, Task<Void, Never>?) in
      guard let waiting = state.waiters.removeValue(forKey: id) else { return (nil, nil) }
      return (waiting, state.machine.leave(id) ? state.flight : nil)
    }
    waiting?.waiter.resume(returning: .failure(CancellationError()))
    flight?.cancel()
  }

  // MARK: The refresh

  /// The longest time that one of the waiting calls has left: `nil` without a limit, zero if none is waiting.
  private var longestRemaining: Duration? { .longest(of: state.withLock { $0.waiters.values.map(\.remaining) }) }

  /// Starts a refresh in its own Swift task, so that cancelling one caller does not end it for the others.
  private func begin(_ flight: Underway) {
    let cancelled = state.withLock { state -> Task<Void, Never>? in
      guard state.flights == flight.number else { return nil }  // another refresh has started
      // Wait for earlier removals: otherwise the refresh would read the token that is being removed.
      let flight = Task { [self] in
        _ = await removal?.result
        await refresh(flight)
      }
      state.flight = flight
      return state.machine.isCancelled ? flight : nil
    }
    cancelled?.cancel()
  }

  private func refresh(_ flight: Underway) async {
    do {
      let (token, isNew) = try await RefreshScope.adding(owner, .refresh) { try await nextToken(flight) }
      let (waiting, later) = state.withLock { state in
        let ids = state.machine.succeeded(token, isNew: isNew, at: flight.context.clock.now)
        state.hasLoaded = true
        state.rejection = nil
        state.release(flight.number)
        return (ids.compactMap { state.waiters.removeValue(forKey: $0) }, token == nil ? nil : state.machine.current)
      }
      for caller in waiting { caller.waiter.resume(returning: .success(later)) }
    } catch {
      fail(error, flight)
    }
  }

  private func fail(_ error: any Error, _ flight: Underway) {
    let error = explained(error)
    let (waiting, again) = state.withLock { state -> ([Waiting], Int?) in
      switch state.machine.failed(error, at: flight.context.clock.now) {
      case .notify(let ids):
        state.release(flight.number)
        return (ids.compactMap { state.waiters.removeValue(forKey: $0) }, nil)
      case .beginAgain:
        state.flights += 1
        return ([], state.flights)
      }
    }
    for caller in waiting { caller.waiter.resume(returning: .failure(error)) }
    guard let again else { return }
    begin(Underway(number: again, context: flight.context, request: flight.request))
  }

  /// Returns the error for waiting callers. Replaces a `CancellationError`, because they were not cancelled themselves.
  private func explained(_ error: any Error) -> any Error {
    guard error is CancellationError else { return error }
    if isClosed { return TaskError.forgotten }
    return TaskError(
      .authenticationFailed, "the token refresh was cancelled while calls were waiting for it: try again",
      phase: .authenticating, underlying: error)
  }

  /// Returns the stored token if it is still good, or a refreshed token. `isNew` is `true` if the token replaces
  /// another one.
  private func nextToken(_ flight: Underway) async throws -> (token: Method.Token?, isNew: Bool) {
    let (present, hasLoaded, rejection, forgetCount) = state.withLock {
      ($0.machine.current?.token, $0.hasLoaded, $0.rejection, $0.forgetCount)
    }
    if isClosed { throw TaskError.forgotten }  // before the refresh began
    if hasLoaded {
      return (try await refreshed(present, after: rejection, flight), present != nil || rejection != nil)
    }
    let stored = try await method.storedToken()
    let usable = stored.flatMap { isUsable($0, flight) ? $0 : nil }
    let freshness = usable.map { method.freshness(of: $0, at: flight.context.now) }
    if let usable, freshness == .good { return (usable, false) }
    // Until now, callers were waiting for the store.
    let records = state.withLock { state in
      state.hasLoaded = true
      return state.waiters.values.map(\.record)
    }
    for record in records { record.begin() }
    guard let stored else { return (try await refreshed(nil, after: rejection, flight), false) }
    do {
      let next = try await refreshed(stored, after: rejection, flight)
      return (next ?? (hasForgotten(since: forgetCount) ? nil : usable), true)
    } catch  where freshness == .expiring && !hasForgotten(since: forgetCount) && !(error is CancellationError) {
      return (usable, false)
    }
  }

  private func refreshed(
    _ token: Method.Token?, after rejection: HTTPResponse?, _ flight: Underway
  ) async throws -> Method.Token? {
    var context = flight.context
    context.tokenKey = key
    context.remaining = { [self] in longestRemaining }
    guard method.isRefreshable, let next = try await method.refresh(token, after: rejection, context) else {
      return nil
    }
    // Reject a token that can't be sent: the server would never see it, so it would never be replaced.
    try tryOut(next, flight)
    return next
  }

  /// Whether a request can carry a stored token. Always `true` if the token can't be refreshed, so that the caller
  /// receives the error.
  private func isUsable(_ token: Method.Token, _ flight: Underway) -> Bool {
    guard method.isRefreshable else { return true }
    do {
      try tryOut(token, flight)
      return true
    } catch {
      return false
    }
  }

  /// Throws an error if neither the call's request nor a plain GET request can carry the token.
  private func tryOut(_ token: Method.Token, _ flight: Underway) throws {
    var request = flight.request
    do {
      try method.apply(token, to: &request)
    } catch {
      var plain = HTTPRequest(.get, request.url)
      try method.apply(token, to: &plain)
    }
  }

  // MARK: Forgetting

  /// Whether the token has been forgotten since `count` was read, possibly by the refresh. If so, the old token must
  /// not be sent.
  private func hasForgotten(since count: Int) -> Bool { forgetCount != count }

  /// Forgets the token. Callers get a later one.
  func forget() {
    state.withLock { state in
      state.forgetCount += 1
      state.machine.forget()
      state.rejection = nil
      state.hasLoaded = true  // the stored token is being removed
    }
  }

  /// Forgets the token for good, so that all callers fail. Returns the latest refresh, which may still be running.
  @discardableResult
  func close() -> Task<Void, Never>? {
    state.withLock { state in
      state.machine.close()
      return state.flight
    }
  }
}
