/// Decides whether the host caused a failure. Its circuit breaker counts only those failures.
extension Attempt.Exchange.Admitted {
  private var call: Call { exchange.attempt.call }

  /// Whether an error is due to the call's deadline: the call's timer expired, or the transport's limit expired after
  /// it was reduced to the remaining time.
  func isDeadline(_ error: any Error, isCut: Bool) -> Bool {
    if error is CancellationError { return call.hasExpired }
    guard let error = error as? TaskError, error.call == nil else { return false }  // another call's deadline
    return error.timer == .call || (error.timer == .attempt && isCut)
  }

  /// Returns the error to throw: the call's deadline if the transport's limit was reduced to it.
  func explained(_ error: any Error, isCut: Bool) -> any Error {
    guard let cut = error as? TaskError, cut.timer == .attempt, isDeadline(cut, isCut: isCut) else { return error }
    return call.expired(cut.phase)
  }

  /// Returns the circuit breaker's verdict on an error. The verdict is unknown if the host did not cause the error, or
  /// if the call will wait for a network, because the device may be offline.
  func verdict(_ error: any Error, isCut: Bool) -> Circuit.Result {
    if isOfThisSide(error) { return .unknown }
    if isDeadline(error, isCut: isCut) { return ofDeadline() }
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
    (call.trace.elapsed - start) * 2 >= call.timeouts.call ?? .zero ? .failure : .unknown
  }

  /// Whether something other than the host caused an error: another call, a pause of the call, a stalled source of the
  /// request body, or earlier redirects that used up most of the limit.
  private func isOfThisSide(_ error: any Error) -> Bool {
    if call.plan.control?.gate.wasClosed(since: gateChanges) == true { return true }
    guard let error = error as? TaskError else { return false }
    if error.call != nil { return true }  // the error of another call, such as one that provides the body
    return error.awaitedSource || (isHurried && error.isTimeout && error.timer != .idle)
  }
}
