extension Call {
  /// Returns an attempt's error if a retry might succeed, otherwise `nil`.
  @inline(never)
  func retryableError(of result: AttemptResult) -> TaskError? {
    let error: TaskError
    switch result {
    case .success(let outcome):
      guard !outcome.isSuccess else { return nil }
      error = .badStatus(
        outcome.response, redaction: snapshot.configuration.redaction,
        showsFields: plan.recordingStyle.contains(.headers))
    case .failure(let failure):
      guard let failure = failure as? TaskError, !failure.isTokenFailure else { return nil }
      error = failure
    }
    return isCancelled ? nil : error
  }

  /// Returns the delay before a retry, or `nil` if the failure is final. Checks the policy, then whether the request
  /// can be resent, the deadline and the host's retry budget. Sets `payment` if the budget was charged.
  func retryDelay(
    after error: TaskError, _ result: AttemptResult, of attempt: Attempt, _ request: HTTPRequest,
    _ payment: inout RetryPayment?
  ) async throws -> Duration? {
    let failure = RetryPolicy.Failure(
      request: request, attempts: trace.flightRecord.attempts + unfinished(result), error: error,
      retryAfter: RetryAfter.delay(in: error.headers, now: manager.dates.now), random: manager.random.unit())
    switch try await retryPolicy.verdict(failure) {
    case .stand: return nil
    case .giveUp(let reason): noteRefusal(reason)
    case .retry(let delay):
      guard let obstacle = obstacle(to: request, of: attempt, after: error, delay: delay, &payment)
      else { return max(.zero, delay) }
      noteRefusal(obstacle)
    }
    return nil
  }

  /// Returns the record of an attempt that has not ended yet, because the caller may still read its body.
  private func unfinished(_ result: AttemptResult) -> [AttemptRecord] {
    guard case .success(let outcome) = result, let record = outcome.unfinished?.record(upTo: outcome.response)
    else { return [] }
    return [record]
  }

  /// Returns the reason why a request can't be retried although the policy allows it, or `nil` if it can.
  private func obstacle(
    to request: HTTPRequest, of attempt: Attempt, after error: TaskError, delay: Duration,
    _ payment: inout RetryPayment?
  ) -> String? {
    guard request.body.isReplayable else { return "the request body can only be read once" }
    if !error.wasNotSent, !isUnprocessed(error) {
      guard request.isRepeatable(plan.idempotency) else { return Self.onceOnly(request.method) }
      if let method = attempt.sent.onceOnly { return Self.onceOnly(method) }
    }
    if let remaining = [remaining, plan.waiters?()].compactMap(\.self).min(), delay >= remaining {
      return "the call's deadline would expire during the retry delay of \(delay.formattedSeconds)"
    }
    // An unsent request puts no load on the server. If the previous retry was not sent, its payment is still valid.
    guard !error.wasNotSent, payment == nil, let host = Origin(request.url) else { return nil }
    payment = manager.retries.pay(for: host)
    return payment == nil ? Self.exhausted(host) : nil
  }

  /// Whether the server refused a token request without processing it.
  private func isUnprocessed(_ error: TaskError) -> Bool {
    if case .token(isRetried: true, _) = plan.role { TokenRetry.isUnprocessed(error.status) } else { false }
  }

  /// Returns the error, marked as unsent only if no attempt was sent.
  func judged(_ error: any Error) -> any Error {
    state.withLock { $0.sent.isNothing } ? error : TaskError.sent(error)
  }

  package static func onceOnly(_ method: HTTPMethod) -> String {
    method.isIdempotent
      ? "this \(method) request must not be sent twice (see the task's idempotency)"
      : "\(method) is not idempotent (allow it with .idempotency(.key))"
  }

  /// Records why a request is not retried.
  func noteRefusal(_ reason: String) {
    trace.note(.retryRefused(reason: reason))
    state.withLock { $0.refusal = (reason, retryPolicy.mostAttempts) }
  }

  package static func exhausted(_ host: Origin) -> String { "the retry budget for \(host.host) is exhausted" }

  /// Waits before a retry. Records the end of the wait even if waiting throws.
  func wait(_ delay: Duration, after error: TaskError) async throws {
    let reason = error.shownReason(snapshot.configuration.redaction).onOneLine
    if callsHooks { await plan.task.willRetry(after: delay, attempts: trace.flightRecord.attempts) }
    trace.note(.delayStarted(delay, reason: reason))
    defer { trace.note(.delayEnded) }
    try await manager.clock.sleep(for: delay)
    // No call is waiting for this one anymore.
    if let remaining = plan.waiters?(), remaining <= .zero { throw error }
    try await waitWhilePaused()
  }
}
