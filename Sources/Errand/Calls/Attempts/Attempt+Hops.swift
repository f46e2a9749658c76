/// An attempt that is redirected has several hops, each with its own slot.
extension Attempt {
  /// The first hop of a chain, of several where a step sends the request again: each has its own time.
  func beginChain() { state.withLock { ($0.spent, $0.hopStart, $0.isHurried) = (.zero, nil, false) } }

  /// A response has come behind which another request goes out: the time of its hop is spent.
  func endHop() {
    let now = call.trace.elapsed
    state.withLock { state in
      state.spent += now - state.start
      (state.hopStart, state.start) = (state.start, now)
    }
  }

  /// The method of a request that must not be sent again; `nil` if it has sent none.
  var onceOnly: HTTPMethod? { state.withLock { $0.onceOnly } }

  /// Leaves the wait since the last hop out of the attempt's time.
  func restart() {
    let now = call.trace.elapsed
    state.withLock { $0.start = now }
  }

  // MARK: Traces

  /// Adds the trace to a request, with this attempt as the parent of what follows. It goes to the remote and to trusted origins alone, and
  /// a request that states its own is left as it is.
  func add(_ span: CallSpan, to request: inout HTTPRequest) {
    guard call.snapshot.configuration.propagatesTraces, call.snapshot.isHome(request.url),
      !request.headers.contains(.traceparent)
    else { return }
    var context = span.context
    context.spanID = span.attempt(number)
    context.add(to: &request.headers)
    call.noteAmended(request, of: number)
  }

  // MARK: Phases

  /// Has the transport say with the head what the exchange took until then: for observers, and for the record of a stream that is
  /// not read to its end.
  func observe(_ request: inout HTTPRequest) {
    let isAddress = call.trace.isObserved && Origin(request.url).map { PeerAddress($0.host) != nil } ?? false
    state.withLock { state in
      state.record.timings = nil
      state.looksUp = !isAddress
    }
    request.options.onHead = { [weak self] timings in
      guard let self else { return }
      state.withLock { $0.record.timings = timings }  // the whole is known at the end of the body, if that comes
      if call.trace.isObserved { tellPhases(timings) }
    }
  }

  /// Tells of lookup, connection, handshake and request, once for each hop, at the times at which they were.
  func tellPhases(_ timings: TransferTimings) {
    let (start, looksUp) = state.withLock { state -> (Duration?, Bool) in
      defer { state.hasToldPhases = true }
      return (state.hasToldPhases ? nil : state.start, state.looksUp)
    }
    guard let start else { return }
    let now = call.trace.elapsed
    for (moment, time) in CallMoment.phases(timings) {
      if case .nameResolved = moment, !looksUp { continue }
      call.trace.tellOnly(moment, at: min(start + time, now))
    }
  }

  /// Has the span keep how the connection of the last request came about, where it is a new one.
  func keepPhases(_ timings: TransferTimings, at now: Duration) {
    for (moment, time) in CallMoment.phases(timings) {
      switch moment {
      case .connected, .secured: break
      default: continue  // no event of a span
      }
      let start = state.withLock { $0.hopStart ?? $0.start }
      let moment = call.trace.isHidden ? moment.withoutURL : moment
      call.trace.span?.note(CallSpan.Connection(attempt: number, time: min(start + time, now), moment: moment))
    }
  }

  // MARK: Limits

  /// Cuts the limit of the attempt to what the call has left.
  func cut(_ timeouts: inout Timeouts, to remaining: Duration) {
    if let limit = timeouts.attempt, limit <= remaining { return }
    timeouts.attempt = remaining
    state.withLock { $0.isCut = true }
  }

  /// True for an error of the call's deadline, from the call's own timer or from the transport's, which was cut to it.
  func isDeadline(_ error: any Error) -> Bool {
    if error is CancellationError { return call.hasExpired }
    guard let error = error as? TaskError, error.call == nil else { return false }  // another call's is its own
    return error.timer == .call || (error.timer == .attempt && state.withLock { $0.isCut })
  }

  /// The time that the hops before this one took.
  var spent: Duration { state.withLock { $0.spent } }

  /// The limits of a further request: what is left of `limits`, which counted from `start` on. Without it, from the start of the attempt,
  /// and the request is the first of a redirect's hop: what other hosts took is not this one's.
  /// Throws ``TaskError`` with code `.timedOut` where nothing is left.
  func limits(_ limits: Timeouts, since start: Duration?) throws -> Timeouts {
    let left = try limits.left(after: spent - (start ?? .zero))
    if start == nil { state.withLock { $0.isHurried = left.isLessThanHalf(of: limits) } }
    return left
  }

  // MARK: The verdict on the host

  /// What an error says of the host: nothing where this side took the time, or where the call goes on to wait for a network, for
  /// there may be none here.
  func verdict(_ error: any Error) -> Circuit.Result {
    if isOfThisSide(error) { return .unknown }
    if isDeadline(error) { return ofDeadline() }
    if let wait = call.rules.connectivity, wait.waitsOut(error), wait.hasTime { return .unknown }
    return Circuit.Result(error)
  }

  /// What a response says of it, once the body came to an end.
  func verdict(_ status: HTTPStatus, _ ending: HTTPResponseBody.Ending) -> Circuit.Result {
    if let error = ending.error, isOfThisSide(error) { return .unknown }
    return Circuit.Result(status, ending)
  }

  /// The deadline's verdict: a failure where most of the time was the host's own and not spent in line.
  private func ofDeadline() -> Circuit.Result {
    let (start, limit) = (state.withLock { $0.start }, call.timeouts.call ?? .zero)
    return (call.trace.elapsed - start) * 2 >= limit ? .failure : .unknown
  }

  /// True for an error that says nothing of the host: the call was paused meanwhile, the source of its body gave nothing, or the
  /// hosts before it in a chain of redirects had used up most of the limit.
  private func isOfThisSide(_ error: any Error) -> Bool {
    let (gateChanges, isHurried) = state.withLock { ($0.gateChanges, $0.isHurried) }
    if call.plan.control?.gate.wasClosed(since: gateChanges) == true { return true }
    guard let error = error as? TaskError else { return false }
    return error.awaitedSource || (isHurried && error.isTimeout && error.timer != .idle)
  }
}

extension Timeouts {
  /// The limits of a further hop of an attempt that took `spent` so far: for the attempt as a whole, or where it has no limit,
  /// for connecting and the first byte together, which then bound the head of the last response.
  /// Throws ``TaskError`` with code `.timedOut` where nothing is left.
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

  /// True where less than half is left of the limit for an attempt, for its connection or its first byte.
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
