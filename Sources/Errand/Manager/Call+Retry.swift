extension Call {
  /// What is to be done after an attempt.
  enum NextMove {
    /// The result stands.
    case stand
    /// Another attempt, after so long.
    case retry(after: Duration, reason: String)
  }

  /// What is wrong with the result of an attempt, where another may mend it; nil where it stands.
  func mendable(_ result: AttemptResult, of request: HTTPRequest) -> TaskError? {
    let error: TaskError
    switch result {
    case .response(let response):
      guard !isSuccess(response.status) else { return nil }
      error = .badStatus(response, redaction: snapshot.configuration.redaction)
    case .failure(let failure):
      guard let failure = failure as? TaskError else { return nil }
      error = failure
    }
    guard request.body.isReplayable, error.isSurelyNotSent || request.isRepeatable(plan.idempotency) else { return nil }
    return isCancelled ? nil : error
  }

  /// Asks the policy about a failed attempt, then the deadline and the host's budget.
  func decide(_ error: TaskError, of request: HTTPRequest) async throws -> NextMove {
    let failure = RetryPolicy.Failure(
      request: request, attempts: trace.flightRecord.attempts, error: error,
      retryAfter: RetryAfter.delay(in: error.headers), random: manager.random.unit())
    let decision = try await interruptible { [retryPolicy] in try await retryPolicy.decide(failure) }
    guard case .retry(let delay) = decision else { return .stand }
    if let remaining, delay >= remaining {
      trace.note(
        .retryRefused(reason: "the call's deadline comes before the delay of \(delay.formattedSeconds) is over"))
      return .stand
    }
    if let host = Origin(request.url), !spendRepetition(for: host) { return .stand }
    return .retry(after: max(.zero, delay), reason: error.reason)
  }

  /// Takes what a repetition costs from the host's budget; false, and noted, where there is nothing left.
  func spendRepetition(for host: Origin) -> Bool {
    let isThere = manager.retries.spend(for: host)
    if !isThere { trace.note(.retryRefused(reason: "the retry budget of \(host) is used up")) }
    return isThere
  }

  /// Waits between two attempts; the end of the wait is noted whatever ends it.
  func wait(_ delay: Duration, reason: String) async throws {
    try await interruptible { [self] in
      await plan.task.willRetry(after: delay, attempts: trace.flightRecord.attempts)
      trace.note(.delayStarted(delay, reason: reason))
      defer { trace.note(.delayEnded) }
      try await manager.clock.sleep(for: delay)
      try await holdWhilePaused()
    }
  }
}
