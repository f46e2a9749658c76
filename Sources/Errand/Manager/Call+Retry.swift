extension Call {
  /// What is to be done after an attempt.
  enum NextMove {
    /// The result stands.
    case stand
    /// Another attempt, after so long.
    case retry(after: Duration, reason: String)
  }

  /// Asks the policy about a failed attempt, within what is allowed at all.
  func decide(_ result: AttemptResult, _ request: HTTPRequest) async throws -> NextMove {
    guard let error = failure(of: result), !Task.isCancelled else { return .stand }
    guard request.body.isReplayable, error.isSurelyNotSent || request.isRepeatable(plan.idempotency) else {
      return .stand
    }
    let failure = RetryPolicy.Failure(
      request: request, attempts: trace.flightRecord.attempts, error: error,
      retryAfter: RetryAfter.delay(in: error.headers), random: manager.random.unit())
    guard case .retry(let delay) = try await retryPolicy.decide(failure) else { return .stand }
    if let remaining, delay >= remaining { return .stand }
    return .retry(after: max(.zero, delay), reason: error.reason)
  }

  /// Waits between two attempts; the end of the wait is noted whatever ends it.
  func wait(_ delay: Duration, reason: String) async throws {
    trace.note(.delayStarted(delay, reason: reason))
    defer { trace.note(.delayEnded) }
    try await manager.clock.sleep(for: delay)
  }

  private func failure(of result: AttemptResult) -> TaskError? {
    if let error = result.error { return error as? TaskError }
    guard let response = result.response, !accepts(response.status) else { return nil }
    return .badStatus(response, redaction: snapshot.configuration.redaction)
  }
}
