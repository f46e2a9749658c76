import ErrandFoundation

/// One attempt of a call under way.
///
/// It ends once: when its body is collected, or for a stream when the caller has read or released the body.
final class Attempt: Sendable {
  let call: Call
  let state: Lock<State>
  private let onSent: (@Sendable () -> Void)?

  struct State {
    var record: AttemptRecord
    /// The time at which it got its slot, counted from the start of the call; that of its last hop.
    var start: Duration
    /// The time at which the hop before had its slot, until the next one has its own.
    var hopStart: Duration?
    /// The time that the hops before that took.
    var spent = Duration.zero
    /// True once it had a slot.
    var isUnderWay = false
    /// The number of its requests that may have reached a server, one a hop.
    var sent = 0
    /// The reason why a 206 or 304 does not answer its request.
    var unexpected: String?
    /// The method of a request that must not be sent again, if it has sent one.
    var onceOnly: HTTPMethod?
    /// True when its own admission or transport said that nothing of the last request was sent.
    var saysNothingSent = false
    /// True once its observers were told how the connection of the last request came about.
    var hasToldPhases = false
    /// True where the host of the last request is a name, and no address.
    var looksUp = true
    /// True when its time limit was cut to what the call has left.
    var isCut = false
    /// True when the hops of redirects before the last one have left it less than half of a limit.
    var isHurried = false
    /// The number of times that the gate of the call had changed when the last hop got its slot.
    var gateChanges = 0
    var hasEnded = false

    /// Brings the record up to a time.
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

  /// An exchange of a race.
  init(_ call: Call, _ state: State, onSent: (@Sendable () -> Void)? = nil) {
    self.call = call
    self.state = Lock(state)
    self.onSent = onSent
  }

  var number: Int { state.withLock { $0.record.number } }

  /// Whether a request of it may have reached a server.
  var wasSent: Bool { state.withLock { $0.sent > 0 } }

  /// The time at which it got its slot, counted from the start of the call.
  var startTime: Duration { state.withLock { $0.start } }

  // MARK: 8. One exchange

  /// Sends one request once: checks, circuit breaker, slot, transport, and the body as far as the library reads it.
  ///
  /// Nothing else holds a slot. If the caller reads the response, or the app produces the request's body, there is a stream permit
  /// instead.
  func exchange(_ request: HTTPRequest, _ digest: DigestExchange? = nil) async throws -> HTTPResponse {
    try await request.renewingProxyCredential { try await exchangeOnce($0, digest) }
  }

  private func exchangeOnce(_ request: HTTPRequest, _ digest: DigestExchange?) async throws -> HTTPResponse {
    call.noteRequest(request, of: number)
    let (manager, priority) = (call.manager, call.plan.priority)
    var queued: Duration?
    var isAdmitted = false
    do {
      let host = try call.sendableOrigin(of: request)
      // An attempt that would be refused afterwards need not wait.
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

  /// Waits in line, within the limit for that; `queued` is how long this wait and the one before took.
  private func wait(_ wait: @escaping @Sendable () async throws -> Void, _ queued: inout Duration?) async throws {
    let start = call.trace.elapsed
    if queued == nil { call.trace.note(.queued) }
    let before = queued ?? .zero
    defer { queued = before + call.trace.elapsed - start }
    let limit = call.timeouts.queue.map { max(.zero, $0 - before) }
    try await call.manager.clock.limiting(limit, .queue, phase: .waiting, wait)
  }

  private func begin(at host: Origin, after queued: Duration?) {
    let gateChanges = call.plan.control?.gate.changes ?? 0
    let start = call.trace.elapsed
    let isFirstHop = state.withLock { state in
      defer { state.isUnderWay = true }
      state.gateChanges = gateChanges
      state.sent += 1
      state.start = start
      state.hasToldPhases = false
      state.hopStart = nil
      state.record.queued += queued ?? .zero
      return !state.isUnderWay
    }
    onSent?()
    if number == 1, isFirstHop, !call.plan.isRepetition { call.manager.retries.earn(for: host) }
    guard let queued else { return }
    call.noteWait(of: number, queued)
    call.trace.note(.admitted(after: queued))
  }

  // MARK: In the slot

  /// Sends the request, if the host's circuit breaker lets it, and takes in the response. `digest` authenticates it, if it has such a
  /// credential.
  private func send(
    _ request: HTTPRequest, to host: Origin, _ digest: DigestExchange?, _ permit: StreamPermit?, after queued: Duration?
  ) async throws -> HTTPResponse {
    begin(at: host, after: queued)
    var request = request
    var circuit: CircuitPermit?
    var response: HTTPResponse
    let progress = call.rules.progress.map { ProgressCounter(of: number, clock: call.manager.clock, tell: $0) }
    do {
      let breaker = call.snapshot.configuration.circuitBreaker
      if !breaker.isOff { circuit = try call.manager.circuits.permit(for: host, breaker) }
      call.renewCookies(of: &request, number)  // after the wait for a slot: nothing stale is sent
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
    // Before its slot is free: the next request sends what it says.
    call.keepCookies(of: response, to: request)
    digest?.learn(from: response)
    if call.keepsRequests { response.request = request }
    note(response, circuit)
    if let reason = response.mismatch(with: request) { response.unexpected = reason }
    if call.showsResponsesToSteps { state.withLock { [reason = response.unexpected] in $0.unexpected = reason } }
    await call.takeIn(&response, method: request.method, progress, permit)
    return response
  }

  // Not inlined, nor the next two: what they put on the stack would otherwise be part of every call's memory.
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
    // A stream lasts as long as its reader takes: its deadline is the call's alone.
    if let remaining = call.remaining {
      guard remaining > .zero else {
        var error = call.expired(.waiting)
        error.isSurelyNotSent = true  // it has its slot, but does not reach the transport
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

  /// Notes the head of a response, and has the circuit breaker judge its body.
  @inline(never)
  private func note(_ response: HTTPResponse, _ circuit: CircuitPermit?) {
    // Hours may pass until such a body ends, and all other requests would be refused until then.
    if !call.delivery.isInMemory { circuit?.endProbe(response.status) }
    if let circuit {
      response.body.onEnd { [self, status = response.status] ending, _ in circuit.end(verdict(status, ending)) }
    }
    call.trace.note(.responded(response.status, isConnectionReused: response.isConnectionReused))
    if call.isShown { call.noteResponse(response, of: number) }
  }

  /// Reads what is left of the body as the call wants it, and ends the attempt.
  func received(_ response: consuming HTTPResponse) async -> AttemptResult {
    var outcome = Outcome(call, response)
    if outcome.response.status == .partialContent || outcome.response.status == .notModified {
      // A step may have made another response of it.
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
      return failed(error, Outcome(call, outcome.response))
    }
  }

  /// Ends the attempt with a response that is not used.
  func end(with response: HTTPResponse, at time: Duration) {
    let body = response.body
    end(at: time, response.status, response.version, body.timings, failure: body.failure.map(reason)) {
      call.noteAttempt($0, Outcome(call, response), at: $1)
    }
    body.cancel()
  }

  /// Ends the attempt with an error, after its response where one came.
  @inline(never)
  func failed(_ error: any Error, _ outcome: Outcome? = nil, at time: Duration? = nil) -> AttemptResult {
    var error = judged(TaskError.ofTransfer(error))
    if let cut = error as? TaskError, cut.timer == .attempt, isDeadline(cut) { error = call.expired(cut.phase) }
    let timings = outcome?.response.body.timings ?? (error as? TaskError)?.timings
    if let timings, call.trace.isObserved { tellPhases(timings) }
    let (head, type) = (outcome?.response, TaskError.typeName(of: error))
    end(at: time, head?.status, head?.version, timings, failure: reason(error), type) {
      call.noteAttempt($0, outcome, at: $1)
    }
    return .failure(error)
  }

  /// Notes the failure of a request, and where that surely did not reach the server; from its own admission and transport
  /// alone.
  func note(_ error: any Error, hadSlot: Bool) {
    let error = TaskError.ofTransfer(error)
    if call.isShown, !isDeadline(error) { call.noteFailure(reason(error), of: number) }
    guard let error = error as? TaskError, error.isSurelyNotSent else { return }
    state.withLock { state in
      state.saysNothingSent = true
      if hadSlot { state.sent -= 1 }
    }
  }

  /// An error of this attempt, which says that nothing was sent only where that is so: it may come from a step.
  func judged(_ error: any Error) -> any Error {
    let isUnsent = state.withLock { $0.sent == 0 && $0.saysNothingSent }
    if !isUnsent { call.state.withLock { $0.wasPerhapsSent = true } }
    guard var error = error as? TaskError, error.isSurelyNotSent, !isUnsent else { return error }
    error.isSurelyNotSent = false
    return error
  }

  @inline(never)
  private func streaming(_ outcome: Outcome) -> Outcome {
    outcome.response.body.onChunk { [trace = call.trace] in trace.countStreamed($0) }
    // Without the body, which would hold itself and never be released.
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

  /// Its record up to the head of its response; nil once it has ended, and is among those of its call.
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

  /// Ends the attempt, once; `show` notes its record for the echo and the recording.
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
