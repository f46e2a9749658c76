/// A redirected attempt has several hops, each with its own slot.
extension Attempt {
  /// Resets the timing. If a step resends the request, each chain of hops is timed separately.
  func beginChain() { state.withLock { ($0.spent, $0.hopStart, $0.isHurried) = (.zero, nil, false) } }

  /// Ends a hop that is followed by another request, and adds its time to `spent`.
  func endHop() {
    let now = call.trace.elapsed
    state.withLock { state in
      state.spent += now - state.start
      (state.hopStart, state.start) = (state.start, now)
    }
  }

  var onceOnly: HTTPMethod? { state.withLock { $0.onceOnly } }

  /// Resets the start time, so that the time since the last hop doesn't count.
  func restart() {
    let now = call.trace.elapsed
    state.withLock { $0.start = now }
  }

  // MARK: Traces

  /// Adds the trace context with this attempt as the parent span. Applies only to the remote and trusted origins, and
  /// keeps an existing `traceparent`.
  func add(_ span: CallSpan, to request: inout HTTPRequest) {
    guard call.snapshot.configuration.propagatesTraces, call.snapshot.isTrusted(request.url),
      !request.headers.contains(.traceparent)
    else { return }
    var context = span.context
    context.spanID = span.attempt(number)
    context.add(to: &request.headers)
    call.noteAmended(request, of: number)
  }

  // MARK: Phases

  /// Asks the transport to report timings with the head, for observers and for the record of a stream that is not read
  /// to its end.
  func observe(_ request: inout HTTPRequest) {
    let isAddress = call.trace.isObserved && Origin(request.url).map { PeerAddress($0.host) != nil } ?? false
    state.withLock { state in
      state.record.timings = nil
      state.looksUp = !isAddress
    }
    request.options.onHead = { [weak self] timings in
      guard let self else { return }
      state.withLock { $0.record.timings = timings }  // replaced at the end of the body
      if call.trace.isObserved { reportPhases(timings) }
    }
  }

  /// Reports the name lookup, connection, TLS handshake and request once per hop, each with the time at which it
  /// happened.
  func reportPhases(_ timings: TransferTimings) {
    let (start, looksUp) = state.withLock { state -> (Duration?, Bool) in
      defer { state.hasReportedPhases = true }
      return (state.hasReportedPhases ? nil : state.start, state.looksUp)
    }
    guard let start else { return }
    let now = call.trace.elapsed
    for (moment, time) in CallMoment.phases(timings) {
      if case .nameResolved = moment, !looksUp { continue }
      call.trace.emit(moment, at: min(start + time, now))
    }
  }

  /// Adds the phases of a new connection to the trace span.
  func keepPhases(_ timings: TransferTimings, at now: Duration) {
    for (moment, time) in CallMoment.phases(timings) {
      switch moment {
      case .connected, .secured: break
      default: continue  // not recorded in the span
      }
      let start = state.withLock { $0.hopStart ?? $0.start }
      let moment = call.trace.isHidden ? moment.withoutURL : moment
      call.trace.span?.note(CallSpan.Connection(attempt: number, time: min(start + time, now), moment: moment))
    }
  }

  // MARK: Limits

  func cut(_ timeouts: inout Timeouts, to remaining: Duration) {
    if let limit = timeouts.attempt, limit <= remaining { return }
    timeouts.attempt = remaining
    state.withLock { $0.isCut = true }
  }

  /// Whether an error is due to the call's deadline: the call's timer expired, or the transport's limit expired after
  /// it was reduced to the remaining time.
  func isDeadline(_ error: any Error) -> Bool {
    if error is CancellationError { return call.hasExpired }
    guard let error = error as? TaskError, error.call == nil else { return false }  // another call's deadline
    return error.timer == .call || (error.timer == .attempt && state.withLock { $0.isCut })
  }

  var spent: Duration { state.withLock { $0.spent } }

  /// Returns what remains of `limits` for the next request. The limits count from `start`, a value of ``spent``. If
  /// `start` is `nil`, the request is the first of a redirect hop: the limits count from the start of the attempt, and
  /// the host is not blamed for the time that other hosts took. Throws ``TaskError`` with code `.timedOut` if no time
  /// is left.
  func limits(_ limits: Timeouts, since start: Duration?) throws -> Timeouts {
    let left = try limits.left(after: spent - (start ?? .zero))
    if start == nil { state.withLock { $0.isHurried = left.isLessThanHalf(of: limits) } }
    return left
  }

  // MARK: The verdict on the host

  /// Returns the circuit breaker's verdict on an error. The verdict is unknown if the host did not cause the error, or
  /// if the call will wait for a network, because the device may be offline.
  func verdict(_ error: any Error) -> Circuit.Result {
    if isOfThisSide(error) { return .unknown }
    if isDeadline(error) { return ofDeadline() }
    if let wait = call.rules.connectivity, wait.waitsOut(error), wait.hasTime { return .unknown }
    return Circuit.Result(error)
  }

  /// Returns the circuit breaker's verdict on a response whose body has ended.
  func verdict(_ status: HTTPStatus, _ ending: HTTPResponseBody.Ending) -> Circuit.Result {
    if let error = ending.error, isOfThisSide(error) { return .unknown }
    return Circuit.Result(status, ending)
  }

  /// Returns the verdict on an expired deadline: a failure if most of the time was spent in the host's slot, not in the
  /// queue.
  private func ofDeadline() -> Circuit.Result {
    let (start, limit) = (state.withLock { $0.start }, call.timeouts.call ?? .zero)
    return (call.trace.elapsed - start) * 2 >= limit ? .failure : .unknown
  }

  /// Whether something other than the host caused an error: a pause of the call, a stalled source of the request body,
  /// or earlier redirect hops that used up most of the limit.
  private func isOfThisSide(_ error: any Error) -> Bool {
    let (gateChanges, isHurried) = state.withLock { ($0.gateChanges, $0.isHurried) }
    if call.plan.control?.gate.wasClosed(since: gateChanges) == true { return true }
    guard let error = error as? TaskError else { return false }
    return error.awaitedSource || (isHurried && error.isTimeout && error.timer != .idle)
  }
}

extension Timeouts {
  /// Returns the limits for the next hop of an attempt that has taken `spent` so far. Reduces the attempt's limit. If
  /// there is none, all hops together must not take longer than the limits for connecting and the first byte combined.
  /// Throws ``TaskError`` with code `.timedOut` if no time is left.
  func left(after spent: Duration) throws -> Timeouts {
    var left = self
    if let attempt {
      left.attempt = try Self.rest(of: attempt, .attempt, after: spent)
    } else if let connect, let firstByte {
      let rest = try Self.rest(of: connect + firstByte, .firstByte, after: spent, named: firstByte)
      (left.connect, left.firstByte) = (min(connect, rest), min(firstByte, rest))
    }
    return left
  }

  func isLessThanHalf(of whole: Timeouts) -> Bool {
    let limits = [(attempt, whole.attempt), (connect, whole.connect), (firstByte, whole.firstByte)]
    for case (let left?, let whole?) in limits where left * 2 < whole { return true }
    return false
  }

  private static func rest(
    of limit: Duration, _ timer: Timer, after spent: Duration, named: Duration? = nil
  ) throws -> Duration {
    if spent < limit { return limit - spent }
    throw TaskError.timeout(timer, after: named ?? limit, phase: .awaitingResponse)
  }
}
