/// Keeps the token of an authenticator, and has it refreshed once for all that wait: the owner of ``RefreshMachine``.
final class CredentialRegistry<Method: Authenticator>: CredentialSource {
  private typealias Machine = RefreshMachine<Method.Token>
  private typealias Answer = Result<Machine.Versioned?, any Error>

  /// A caller that waits, and the record of that.
  private struct Waiting {
    let waiter: Waiter<Answer>
    let record: RefreshWait
  }

  /// A refresh, and what the call that has begun it gives it.
  private struct Underway: Sendable {
    let number: Int
    let context: RefreshContext
    /// The request on which a new token is tried.
    let request: HTTPRequest
  }

  private struct State {
    var machine = Machine()
    var waiters: [Int: Waiting] = [:]
    var lastID = 0
    /// True once those who wait do so for a new token, and not for the stored one.
    var hasLoaded = false
    /// The version for whose replays the retry budget has paid.
    var paidVersion = 0
    var forgetCount = 0
    /// The number of refreshes that have begun, and the last one.
    var flights = 0
    var flight: Task<Void, Never>?
    /// The removal of what is stored: no refresh begins before it has ended.
    var forgetting: Task<Void, any Error>?
  }

  private let method: Method
  private let state = Lock(State())

  init(_ method: Method) { self.method = method }

  var isRefreshable: Bool { method.isRefreshable }

  var failureCount: Int { state.withLock { $0.machine.failureCount } }

  var forgetCount: Int { state.withLock { $0.forgetCount } }

  func isAuthenticationFailure(_ response: HTTPResponse) -> Bool { method.isAuthenticationFailure(response) }

  func accepted(_ version: Int) { state.withLock { $0.machine.accepted(version) } }

  func refused(_ version: Int) { state.withLock { $0.machine.refused(version) } }

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
    if let refused {
      guard let later = try await token(beyond: refused, for: request, attempt) else { return nil }
      return try signed(request, later, attempt)
    }
    return try signed(request, try await presentToken(for: request, attempt), attempt)
  }

  /// The token to send, a new one where it is due.
  private func presentToken(for request: HTTPRequest, _ attempt: SigningAttempt) async throws -> Machine.Versioned? {
    let (present, isRefused, forgetCount) = state.withLock {
      ($0.machine.current, $0.machine.isRefused, $0.forgetCount)
    }
    guard let present else { return try await token(beyond: 0, for: request, attempt) }
    let freshness = method.freshness(of: present.token, at: attempt.context.now)
    if freshness == .good, !isRefused { return present }
    do {
      let later = try await token(beyond: present.version, for: request, attempt)
      return later ?? (hasForgotten(since: forgetCount) ? nil : present)
    } catch
      where freshness == .ageing && !isRefused && !hasForgotten(since: forgetCount)
      && !(error is CancellationError)
    {
      return present  // nearly at its end, and still good
    }
  }

  private func signed(
    _ request: HTTPRequest, _ present: Machine.Versioned?, _ attempt: SigningAttempt
  ) throws -> SignedRequest {
    guard let present else { return SignedRequest(request: request, version: 0) }
    var signed = request
    try method.apply(present.token, to: &signed)
    let names = Set(
      signed.headers.map(\.name).filter { signed.headers.values(for: $0) != request.headers.values(for: $0) })
    // A server's authenticator leaves alone what the task or a hook has said.
    if attempt.yields, names.contains(where: { request.headers.contains($0) }) {
      return SignedRequest(request: request, version: 0)
    }
    signed.options.credentialHeaders.formUnion(names)
    return SignedRequest(request: signed, version: present.version)
  }

  // MARK: Waiting

  /// A token later than `version`, waited for where it has to be got; nil where there is none for now.
  private func token(
    beyond version: Int, for request: HTTPRequest, _ attempt: SigningAttempt
  ) async throws -> Machine.Versioned? {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    let record = RefreshWait(attempt.note)
    defer { record.end() }
    // What a refresh sends is not signed in by it, nor by one that waits for it.
    guard let wait = RefreshWaits.begin(for: self) else { return nil }
    defer { RefreshWaits.end(wait) }
    let answer: Answer = await answer { waiter in
      demand(version, id, Waiting(waiter: waiter, record: record), request, attempt)
    } onCancel: {
      leave(id)
    }
    return try answer.get()
  }

  /// The answer where there is one already; otherwise the waiter is kept, and a refresh is under way.
  private func demand(
    _ version: Int, _ id: Int, _ waiting: Waiting, _ request: HTTPRequest, _ attempt: SigningAttempt
  ) -> Answer? {
    let now = attempt.context.clock.now
    let (answer, flight, hasLoaded) = state.withLock { state -> (Answer?, Int?, Bool) in
      if Task.isCancelled { return (.failure(CancellationError()), nil, true) }
      switch state.machine.demand(beyond: version, known: attempt.known, id: id, at: now) {
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

  /// A caller waits no longer. The refresh goes on for the others; without any it is cancelled.
  private func leave(_ id: Int) {
    let (waiting, flight) = state.withLock { state -> (Waiting?, Task<Void, Never>?) in
      guard let waiting = state.waiters.removeValue(forKey: id) else { return (nil, nil) }
      return (waiting, state.machine.leave(id) ? state.flight : nil)
    }
    waiting?.waiter.resume(returning: .failure(CancellationError()))
    flight?.cancel()
  }

  // MARK: The refresh

  /// Begins a refresh: in a Swift task of its own, for none of those who wait for it may end it for the others.
  private func begin(_ flight: Underway) {
    let cancelled = state.withLock { state -> Task<Void, Never>? in
      guard state.flights == flight.number else { return nil }  // another has begun
      // It waits for removals that began before it, or would find the token that is about to go; later ones wait for it.
      let flight = Task { [self, forgetting = state.forgetting] in
        _ = await forgetting?.result
        await refresh(flight)
      }
      state.flight = flight
      return state.machine.isCancelled ? flight : nil
    }
    cancelled?.cancel()
  }

  private func refresh(_ flight: Underway) async {
    do {
      let (token, isNew) = try await RefreshScope.adding(self, .refresh) { try await nextToken(flight) }
      let (waiting, later) = state.withLock { state in
        let ids = state.machine.succeeded(token, isNew: isNew, at: flight.context.clock.now)
        state.hasLoaded = true
        return (ids.compactMap { state.waiters.removeValue(forKey: $0) }, token == nil ? nil : state.machine.current)
      }
      for caller in waiting { caller.waiter.resume(returning: .success(later)) }
    } catch {
      fail(error, flight)
    }
  }

  private func fail(_ error: any Error, _ flight: Underway) {
    let (waiting, again) = state.withLock { state -> ([Waiting], Int?) in
      switch state.machine.failed(Self.explained(error), at: flight.context.clock.now) {
      case .tell(let ids): return (ids.compactMap { state.waiters.removeValue(forKey: $0) }, nil)
      case .beginAgain:
        state.flights += 1
        return ([], state.flights)
      }
    }
    for caller in waiting { caller.waiter.resume(returning: .failure(Self.explained(error))) }
    guard let again else { return }
    begin(Underway(number: again, context: flight.context, request: flight.request))
  }

  /// The error for those who wait, who were not cancelled themselves.
  private static func explained(_ error: any Error) -> any Error {
    guard error is CancellationError else { return error }
    return TaskError(
      .authenticationFailed, "the refresh of the token was cancelled, and not by a call that waits for it: try again",
      phase: .authenticating, underlying: error)
  }

  /// The stored token where it is still good, else a refreshed one; and whether it replaces another.
  private func nextToken(_ flight: Underway) async throws -> (token: Method.Token?, isNew: Bool) {
    let (present, hasLoaded, forgetCount) = state.withLock {
      ($0.machine.current?.token, $0.hasLoaded, $0.forgetCount)
    }
    if hasLoaded { return (try await refreshed(present, flight), present != nil) }
    let stored = try await method.storedToken()
    let usable = stored.flatMap { isUsable($0, flight) ? $0 : nil }
    let freshness = usable.map { method.freshness(of: $0, at: flight.context.now) }
    if let usable, freshness == .good { return (usable, false) }
    // Until now they waited for the store.
    let records = state.withLock { state in
      state.hasLoaded = true
      return state.waiters.values.map(\.record)
    }
    for record in records { record.begin() }
    guard let stored else { return (try await refreshed(nil, flight), false) }
    do {
      let next = try await refreshed(stored, flight)
      return (next ?? (hasForgotten(since: forgetCount) ? nil : usable), true)
    } catch  where freshness == .ageing && !hasForgotten(since: forgetCount) && !(error is CancellationError) {
      return (usable, false)
    }
  }

  /// Another token, which a request can carry; nil where there is none.
  private func refreshed(_ token: Method.Token?, _ flight: Underway) async throws -> Method.Token? {
    guard method.isRefreshable, let next = try await method.refresh(token, flight.context) else { return nil }
    // No server ever refuses one that is not sent: it would be kept for ever.
    try tryOut(next, flight)
    return next
  }

  /// True for a stored token that a request can carry. Without another one, its error is the answer.
  private func isUsable(_ token: Method.Token, _ flight: Underway) -> Bool {
    guard method.isRefreshable else { return true }
    do {
      try tryOut(token, flight)
      return true
    } catch {
      return false
    }
  }

  /// Throws where a request cannot carry a token: neither that of the call, which may be a special one, nor a plain one.
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

  /// True where the token was forgotten meanwhile, perhaps by the refresh itself: the one before is not to be sent any more.
  private func hasForgotten(since count: Int) -> Bool { forgetCount != count }

  func forget() async throws {
    if RefreshScope.isRemoval(of: self) { return }  // it is under way
    guard let wait = RefreshWaits.begin(for: self) else { return try await forgetWithinRefresh() }
    defer { RefreshWaits.end(wait) }
    let forgetting = state.withLock { state in
      state.forgetCount += 1
      state.machine.forget()
      state.hasLoaded = true  // what is stored is about to go
      let (flight, earlier) = (state.flight, state.forgetting)
      let forgetting = Task { try await forget(after: flight, earlier) }
      state.forgetting = forgetting
      return forgetting
    }
    try await forgetting.value
  }

  private func forget(after flight: Task<Void, Never>?, _ earlier: Task<Void, any Error>?) async throws {
    flight?.cancel()
    await flight?.value  // what it still gets would be stored after the rest was forgotten
    _ = await earlier?.result
    state.withLock { state in
      // A call that came meanwhile may have the old token: what it stores is for no account that comes after.
      state.forgetCount += 1
      state.machine.forget()
    }
    try await remove()
  }

  /// Forgets for the refresh that is under way, or for one that waits for that, and would wait for itself: what the first gives after
  /// that is a new token.
  private func forgetWithinRefresh() async throws {
    state.withLock { state in
      state.forgetCount += 1
      state.machine.forget()
      state.hasLoaded = true
    }
    try await remove()
  }

  private func remove() async throws { try await RefreshScope.adding(self, .removal) { try await method.forget() } }
}
