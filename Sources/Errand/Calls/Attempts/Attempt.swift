import ErrandFoundation

/// One attempt of a call. It ends when the response's body has been read. For a stream, it ends when the caller has
/// read or released the body.
final class Attempt: Sendable {
  let call: Call
  private let state: Lock<State>

  private struct State {
    var record: AttemptRecord
    /// The requests that the server may have received. `nil` before the first exchange.
    var sent: Sent?
    /// The total time of the exchanges that have ended.
    var spent = Duration.zero
    /// When the last exchange got its slot, relative to the start of the call.
    var start: Duration?
    /// Whether the last exchange is still running, because the caller is reading its body.
    var isExchanging = false
    /// Whether earlier redirect hops left less than half of the time limit.
    var isHurried = false
    var hasEnded = false

    /// Returns whether an exchange was running.
    mutating func endExchange(at now: Duration) -> Bool {
      guard isExchanging, let start else { return false }
      isExchanging = false
      spent += now - start
      record.duration += now - start
      return true
    }

    mutating func keep(at now: Duration, _ status: HTTPStatus?, _ version: HTTPVersion?) -> Bool {
      (record.status, record.version) = (status, version)
      return endExchange(at: now)
    }
  }

  /// Begins an attempt.
  convenience init(of call: Call) { self.init(of: call, call.state.withLock { $0.beginAttempt() }) }

  private init(of call: Call, _ number: Int) {
    self.call = call
    state = Lock(State(record: AttemptRecord(number: number)))
    call.trace.note(.attemptStarted(number))
  }

  var number: Int { state.withLock { $0.record.number } }

  /// The requests that the server may have received.
  var sent: Sent { state.withLock { $0.sent } ?? .nothing }

  /// Whether nothing was sent. A step that answers or fails without an exchange may have sent something by other means.
  private var isUnsent: Bool { (state.withLock { $0.sent }?.isNothing) ?? !call.hasAttemptSteps }

  /// The total time of the exchanges that have ended.
  var spent: Duration { state.withLock { $0.spent } }

  /// When the last exchange got its slot, relative to the start of the call. `nil` if nothing was sent.
  var start: Duration? { state.withLock { $0.start } }

  // MARK: Exchanges

  /// Records that an exchange got its slot. Returns whether it is the first, and whether earlier hops left little time.
  func begin(at now: Duration) -> (isFirst: Bool, isHurried: Bool) {
    let (wasExchanging, isFirst, isHurried) = state.withLock { state in
      let wasExchanging = state.endExchange(at: now)  // a step may not have read the previous response
      let isFirst = state.start == nil
      (state.start, state.isExchanging) = (now, true)
      return (wasExchanging, isFirst, state.isHurried)
    }
    if !wasExchanging { call.manager.calls.addExchange(1) }
    return (isFirst, isHurried)
  }

  func noteWait(_ queued: Duration) {
    let number = state.withLock { state in
      state.record.queued += queued
      return state.record.number
    }
    call.record { $0.wait(of: number, queued) }
  }

  func endExchange() {
    let now = call.trace.elapsed
    if state.withLock({ $0.endExchange(at: now) }) { call.manager.calls.addExchange(-1) }
  }

  /// Records that a request may reach the server. Returns what was recorded before.
  @discardableResult
  func add(_ sent: Sent) -> Sent {
    state.withLock { state in
      let before = state.sent ?? .nothing
      state.sent = before.adding(sent)
      return before
    }
  }

  /// Restores what was recorded before a request that was not sent, unless another exchange has begun since `start`.
  func takeBack(_ before: Sent, since start: Duration) {
    state.withLock { if $0.start == start { $0.sent = before } }
  }

  func note(_ timings: TransferTimings?) { state.withLock { $0.record.timings = timings } }

  /// Returns what remains of `limits` after the time spent in exchanges since `start`, a value of ``spent``. If other
  /// hosts may have spent that time, the next host is not blamed for a timeout. Throws ``TaskError`` with code
  /// `.timedOut` if no time is left.
  func rest(of limits: Timeouts, since start: Duration, atOtherHosts: Bool) throws -> Timeouts {
    let rest = try limits.left(after: spent - start)
    if atOtherHosts { state.withLock { $0.isHurried = rest.isLessThanHalf(of: limits) } }
    return rest
  }

  // MARK: Hedges

  /// Begins another exchange of the same request, which is recorded as a separate attempt.
  func hedge() -> Attempt {
    let number = call.state.withLock { $0.nextAttempt() }
    call.trace.note(.hedgeSent(number))
    return Attempt(of: call, number)
  }

  /// Continues as `hedge`, which won the race. This attempt's own record has ended.
  func adopt(_ hedge: Attempt) {
    let hedge = hedge.state.withLock { $0 }
    state.withLock { ($0.record, $0.start, $0.hasEnded) = (hedge.record, hedge.start, false) }
  }

  // MARK: The end

  /// Takes the body that the exchange has read and ends the attempt. A stream ends it when its body ends.
  func received(_ outcome: consuming Outcome) async -> AttemptResult {
    if call.destination.isStream, outcome.isAccepted { return .success(streaming(outcome)) }
    do {
      let timings = try await call.collect(&outcome)
      let now = call.trace.note(.bodyReceived(bytes: outcome.size))
      end(at: now, outcome.response.status, outcome.response.version, timings, of: outcome)
      return .success(consume outcome)
    } catch {
      outcome.response.body.cancel()
      return failed(error, Outcome(call, outcome.response))
    }
  }

  func end(with response: HTTPResponse, at time: Duration) {
    let body = response.body
    let failure = body.failure.map(reason)
    end(at: time, response.status, response.version, body.timings, failure: failure, of: Outcome(call, response))
    body.cancel()
  }

  @inline(never)
  func failed(_ error: any Error, _ outcome: Outcome? = nil, at time: Duration? = nil) -> AttemptResult {
    let error = judged(TaskError.ofTransfer(error))
    let timings = outcome?.response.body.timings ?? (error as? TaskError)?.timings
    let (head, type) = (outcome?.response, TaskError.typeName(of: error))
    end(at: time, head?.status, head?.version, timings, failure: reason(error), type, of: outcome)
    return .failure(error)
  }

  /// Returns the requests that the server may have received, given the attempt's result. A step may have replaced the error of a
  /// request that was not sent.
  func sent(with result: AttemptResult) -> Sent {
    guard sent.isNothing, call.hasAttemptSteps else { return sent }
    if isUnsent, case .failure(let error as TaskError) = result, error.wasNotSent { return .nothing }
    return .repeatable
  }

  /// Returns the error, marked as unsent only if nothing was sent.
  func judged(_ error: any Error) -> any Error {
    guard isUnsent, var error = error as? TaskError else { return TaskError.sent(error) }
    if !call.hasAttemptSteps { error.wasNotSent = true }
    return error
  }

  @inline(never)
  private func streaming(_ outcome: Outcome) -> Outcome {
    outcome.response.body.onChunk { [trace = call.trace] in trace.countStreamed($0) }
    // Leave out the body: capturing it in its own end handler would leak it.
    var head = outcome
    head.response.body = HTTPResponseBody()
    outcome.response.body.onEnd { [self, head] ending, source in
      let timings = source?.timings ?? (ending.error as? TaskError)?.timings
      let (failure, type) = (ending.error.map { reason($0) }, ending.error.map { TaskError.typeName(of: $0) })
      end(head.response.status, head.response.version, timings, failure: failure, type, of: head)
    }
    var outcome = outcome
    if !outcome.isSuccess { outcome.unfinished = self }
    return outcome
  }

  /// Returns the record up to the response's head, or `nil` if the attempt has ended, because the call then has its
  /// record.
  func record(upTo head: HTTPResponse) -> AttemptRecord? {
    let now = call.trace.elapsed
    var copy = state.withLock { $0 }
    guard !copy.hasEnded else { return nil }
    _ = copy.keep(at: now, head.status, head.version)
    return copy.record
  }

  func reason(_ error: any Error) -> String {
    error is CancellationError
      ? "cancelled" : (error as? TaskError)?.shownReason(call.snapshot.configuration.redaction) ?? call.words(of: error)
  }

  /// Ends the attempt, at most once. `outcome` is the response with the body that was read, if any.
  @inline(never)
  private func end(
    at time: Duration? = nil, _ status: HTTPStatus?, _ version: HTTPVersion?, _ timings: TransferTimings?,
    failure: String? = nil, _ errorType: String? = nil, of outcome: Outcome?
  ) {
    let now = time ?? call.trace.elapsed
    var wasExchanging = false
    let record = state.withLock { state -> AttemptRecord? in
      guard !state.hasEnded else { return nil }
      state.hasEnded = true
      wasExchanging = state.keep(at: now, status, version)
      if let timings { state.record.timings = timings }
      state.record.failure = failure
      state.record.errorType = errorType
      return state.record
    }
    guard let record else { return }
    if wasExchanging { call.manager.calls.addExchange(-1) }
    call.record { $0.end(record, outcome, at: now) }
    call.trace.note(.attemptEnded(record.number, record), at: now)
  }
}
