import ErrandFoundation

/// One attempt of a call. It ends when the response's body has been read. For a stream, it ends when the caller has
/// read or released the body.
final class Attempt: Sendable {
  let call: Call
  let state: Lock<State>
  private let onSent: (@Sendable () -> Void)?

  struct State {
    var record: AttemptRecord
    /// When the last hop got its slot, relative to the start of the call.
    var start: Duration
    /// When the previous hop got its slot. `nil` once the next hop has its own slot.
    var hopStart: Duration?
    /// The time that earlier hops took.
    var spent = Duration.zero
    var isUnderWay = false
    /// The number of requests, one per hop, that may have reached a server.
    var sent = 0
    var unexpected: String?
    /// The method of the non-repeatable request that was sent, if any.
    var onceOnly: HTTPMethod?
    /// Whether admission or the transport reported that the last request was not sent.
    var saysNothingSent = false
    /// Whether observers have been notified of the last request's connection phases.
    var hasReportedPhases = false
    /// Whether the last request's host is a name, not an IP address.
    var looksUp = true
    /// Whether the attempt's time limit was reduced because the call's deadline is near.
    var isCut = false
    /// Whether earlier redirect hops left less than half of the time limit.
    var isHurried = false
    /// The change count of the call's pause gate when the last hop got its slot.
    var gateChanges = 0
    var hasEnded = false

    mutating func keep(at now: Duration, _ status: HTTPStatus?, _ version: HTTPVersion?) {
      record.duration = spent + now - start
      record.status = status
      record.version = version
    }
  }

  init(of call: Call) {
    self.call = call
    onSent = nil
    let number = call.state.withLock { $0.beginAttempt() }
    let start = call.trace.note(.attemptStarted(number))
    state = Lock(State(record: AttemptRecord(number: number), start: start))
  }

  /// Creates the attempt for one exchange of a hedging race.
  init(_ call: Call, _ state: State, onSent: (@Sendable () -> Void)? = nil) {
    self.call = call
    self.state = Lock(state)
    self.onSent = onSent
  }

  var number: Int { state.withLock { $0.record.number } }

  var wasSent: Bool { state.withLock { $0.sent > 0 } }

  var startTime: Duration { state.withLock { $0.start } }

  // MARK: 8. One exchange

  /// Sends a request once: checks it, consults the circuit breaker, waits for a slot, sends it and reads the body.
  ///
  /// This is the only code that holds a slot. An exchange whose response is streamed also holds a stream permit. If the
  /// app produces the request's body, the exchange holds a stream permit instead of a slot.
  func exchange(_ request: HTTPRequest, _ digest: DigestExchange? = nil) async throws -> HTTPResponse {
    let response = try await request.renewingProxyCredential { try await exchangeOnce($0, digest) }
    // Here, because a step may return another response. Not in the slot, because the store may make calls.
    if let sent = response.request { await call.forget(response, to: sent) }
    return response
  }

  private func exchangeOnce(_ request: HTTPRequest, _ digest: DigestExchange?) async throws -> HTTPResponse {
    call.noteRequest(request, of: number)
    let (manager, priority) = (call.manager, call.plan.priority)
    var queued: Duration?
    var isAdmitted = false
    do {
      let host = try call.sendableOrigin(of: request)
      // Fail fast instead of waiting for a slot first.
      if !call.snapshot.configuration.circuitBreaker.isOff { try manager.circuits.check(host) }
      var permit: StreamPermit?
      defer { withExtendedLifetime(permit) {} }
      if call.delivery.isStream || request.body.isProduced {
        permit = try await manager.streams.permit(at: host, priority) { try await wait($0, &queued) }
      }
      if request.body.isProduced {
        isAdmitted = true
        return try await send(request, to: host, digest, permit, after: queued)
      }
      return try await manager.admission.withSlot(at: host, priority) {
        try await wait($0, &queued)
      } exchange: {
        isAdmitted = true
        return try await send(request, to: host, digest, permit, after: queued)
      }
    } catch {
      if isAdmitted { throw error }
      if let queued {
        call.noteWait(of: number, queued)
        call.trace.note(.leftQueue(after: queued))
      }
      note(error, hadSlot: false)
      throw error
    }
  }

  /// Waits in the queue for at most the queue timeout. `queued` is the total time of this wait and the previous one.
  private func wait(_ wait: @escaping @Sendable () async throws -> Void, _ queued: inout Duration?) async throws {
    let start = call.trace.elapsed
    if queued == nil { call.trace.note(.queued) }
    let before = queued ?? .zero
    defer { queued = before + call.trace.elapsed - start }
    let limit = call.timeouts.queue.map { max(.zero, $0 - before) }
    try await call.manager.clock.limiting(limit, .queue, phase: .waiting, wait)
  }

  private func begin(at host: Origin, after queued: Duration?) throws {
    if let queued {
      call.noteWait(of: number, queued)
      call.trace.note(.admitted(after: queued))
    }
    try call.checkCancellation()  // after the last code of the app that may cancel the call
    let gateChanges = call.plan.control?.gate.changes ?? 0
    let start = call.trace.elapsed
    let isFirstHop = state.withLock { state in
      defer { state.isUnderWay = true }
      state.gateChanges = gateChanges
      state.sent += 1
      state.start = start
      state.hasReportedPhases = false
      state.hopStart = nil
      state.record.queued += queued ?? .zero
      return !state.isUnderWay
    }
    onSent?()
    if number == 1, isFirstHop, !call.plan.isRepetition { call.manager.retries.earn(for: host) }
  }

  // MARK: In the slot

  /// Sends the request if the host's circuit breaker allows it, and reads the response. `digest` authenticates the
  /// request if the request has a Digest credential.
  private func send(
    _ request: HTTPRequest, to host: Origin, _ digest: DigestExchange?, _ permit: StreamPermit?, after queued: Duration?
  ) async throws -> HTTPResponse {
    try begin(at: host, after: queued)
    var request = request
    var circuit: CircuitPermit?
    var response: HTTPResponse
    let progress = call.rules.progress.map { ProgressCounter(of: number, clock: call.manager.clock, notify: $0) }
    do {
      let breaker = call.snapshot.configuration.circuitBreaker
      if !breaker.isOff { circuit = try call.manager.circuits.permit(for: host, breaker) }
      call.renewCookies(of: &request, number)  // after waiting for a slot, so that no stale cookies are sent
      let request = try prepared(request, digest)
      if let progress {
        response = try await progress.sending(request) { try await call.transport.send($0) }
      } else {
        response = try await call.transport.send(request)
      }
    } catch {
      report(error, to: circuit)
      throw error
    }
    // Do this while holding the slot, so that the next request to the host sends these cookies.
    call.keepCookies(of: response, to: request)
    digest?.learn(from: response)
    if call.keepsRequests { response.request = request }
    note(response, circuit)
    if let reason = response.mismatch(with: request) { response.unexpected = reason }
    if call.showsResponsesToSteps { state.withLock { [reason = response.unexpected] in $0.unexpected = reason } }
    await call.takeIn(&response, method: request.method, progress, permit)
    return response
  }

  // Not inlined, like the next two functions, because inlining would enlarge every call's stack.
  @inline(never)
  private func prepared(_ request: HTTPRequest, _ digest: DigestExchange?) throws -> HTTPRequest {
    var request = request
    if let digest, digest.sign(&request) { call.noteAmended(request, of: number) }
    if let span = call.trace.span { add(span, to: &request) }
    if call.trace.isObserved || call.delivery.isStream { observe(&request) }
    call.limitStreams(of: &request)
    let mayRepeat = request.body.isReplayable && request.isRepeatable(call.plan.idempotency)
    if request.options.mayRepeat != mayRepeat { request.options.mayRepeat = mayRepeat }
    if !mayRepeat {
      state.withLock { $0.onceOnly = request.method }
      call.state.withLock { $0.hasSentOnceOnly = true }
    }
    // A stream can be read for any length of time, so only the call's deadline applies.
    if let remaining = call.remaining {
      guard remaining > .zero else {
        var error = call.expired(.waiting)
        error.wasNotSent = true  // it has a slot, but never reaches the transport
        throw error
      }
      if !request.options.isLongLived { cut(&request.options.timeouts, to: remaining) }
    }
    return request
  }

  @inline(never)
  private func report(_ error: any Error, to permit: CircuitPermit?) {
    note(error, hadSlot: true)
    permit?.end(verdict(error))
  }

  /// Records a response's head. The circuit breaker judges the response when the body ends.
  @inline(never)
  private func note(_ response: HTTPResponse, _ circuit: CircuitPermit?) {
    // The body may take hours, during which the circuit breaker would reject all other requests.
    circuit?.endProbe(response.status)
    if let circuit {
      response.body.onEnd { [self, status = response.status] ending, _ in circuit.end(verdict(status, ending)) }
    }
    call.trace.note(.responded(response.status, isConnectionReused: response.isConnectionReused))
    if call.isShown { call.noteResponse(response, of: number) }
  }

  /// Reads the rest of the body as the delivery requires, and ends the attempt.
  func received(_ response: consuming HTTPResponse) async -> AttemptResult {
    var outcome = Answer(call, response)
    if outcome.response.status == .partialContent || outcome.response.status == .notModified {
      // A step may have replaced the response.
      outcome.response.unexpected = outcome.response.unexpected ?? state.withLock { $0.unexpected }
    }
    if call.delivery.isStream, outcome.isAccepted { return .success(streaming(outcome)) }
    do {
      let timings = try await call.collect(&outcome)
      let now = call.trace.note(.bodyReceived(bytes: outcome.size))
      end(at: now, outcome.response.status, outcome.response.version, timings) { call.noteAttempt($0, outcome, at: $1) }
      return .success(consume outcome)
    } catch {
      outcome.response.body.cancel()
      return failed(error, Answer(call, outcome.response))
    }
  }

  func end(with response: HTTPResponse, at time: Duration) {
    let body = response.body
    end(at: time, response.status, response.version, body.timings, failure: body.failure.map(reason)) {
      call.noteAttempt($0, Answer(call, response), at: $1)
    }
    body.cancel()
  }

  @inline(never)
  func failed(_ error: any Error, _ outcome: Answer? = nil, at time: Duration? = nil) -> AttemptResult {
    var error = judged(TaskError.ofTransfer(error))
    if let cut = error as? TaskError, cut.timer == .attempt, isDeadline(cut) { error = call.expired(cut.phase) }
    let timings = outcome?.response.body.timings ?? (error as? TaskError)?.timings
    if let timings, call.trace.isObserved { reportPhases(timings) }
    let (head, type) = (outcome?.response, TaskError.typeName(of: error))
    end(at: time, head?.status, head?.version, timings, failure: reason(error), type) {
      call.noteAttempt($0, outcome, at: $1)
    }
    return .failure(error)
  }

  /// Records a request's failure, and whether the request was not sent. Pass only errors from admission or the
  /// transport.
  func note(_ error: any Error, hadSlot: Bool) {
    let error = TaskError.ofTransfer(error)
    if call.isShown, !isDeadline(error) { call.noteFailure(reason(error), of: number) }
    guard let error = error as? TaskError, error.wasNotSent else { return }
    state.withLock { state in
      state.saysNothingSent = true
      if hadSlot { state.sent -= 1 }
    }
  }

  /// Returns the error, marked as unsent only if nothing was sent. A step may have thrown another request's error.
  func judged(_ error: any Error) -> any Error {
    let isUnsent = state.withLock { $0.sent == 0 && $0.saysNothingSent }
    if !isUnsent { call.state.withLock { $0.wasPerhapsSent = true } }
    return isUnsent ? error : TaskError.sent(error)
  }

  @inline(never)
  private func streaming(_ outcome: Answer) -> Answer {
    outcome.response.body.onChunk { [trace = call.trace] in trace.countStreamed($0) }
    // Leave out the body: capturing it in its own end handler would leak it.
    var head = outcome
    head.response.body = HTTPResponseBody()
    outcome.response.body.onEnd { [self, head] ending, source in
      let timings = source?.timings ?? (ending.error as? TaskError)?.timings
      let (failure, type) = (ending.error.map { reason($0) }, ending.error.map { TaskError.typeName(of: $0) })
      end(head.response.status, head.response.version, timings, failure: failure, type) {
        call.noteAttempt($0, head, at: $1)
      }
    }
    var outcome = outcome
    if !outcome.isSuccess { outcome.unfinished = self }
    return outcome
  }

  /// Returns the record up to the response's head, or `nil` if the attempt has ended, because the call then has its
  /// record.
  func record(upTo head: HTTPResponse) -> AttemptRecord? {
    let now = call.trace.elapsed
    return state.withLock { state in
      guard !state.hasEnded else { return nil }
      state.keep(at: now, head.status, head.version)
      return state.record
    }
  }

  private func reason(_ error: any Error) -> String {
    error is CancellationError
      ? "cancelled" : (error as? TaskError)?.shownReason(call.snapshot.configuration.redaction) ?? call.words(of: error)
  }

  /// Ends the attempt, at most once. If the call is echoed, recorded or logged, passes the record to `show`.
  @inline(never)
  private func end(
    at time: Duration? = nil, _ status: HTTPStatus?, _ version: HTTPVersion?, _ timings: TransferTimings?,
    failure: String? = nil, _ errorType: String? = nil, show: (AttemptRecord, Duration) -> Void
  ) {
    let now = time ?? call.trace.elapsed
    let record = state.withLock { state -> AttemptRecord? in
      guard !state.hasEnded else { return nil }
      state.hasEnded = true
      state.keep(at: now, status, version)
      if let timings { state.record.timings = timings }
      state.record.failure = failure
      state.record.errorType = errorType
      return state.record
    }
    guard let record else { return }
    if call.isShown { show(record, now) }
    if call.trace.keepsNotes, let timings { keepPhases(timings, at: now) }
    call.trace.note(.attemptEnded(record.number, record), at: now)
  }
}
