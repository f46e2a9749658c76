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
    return isCancelled ? nil : error
  }

  /// Asks the policy about a failed attempt, then whether the request may be sent again, the deadline and the host's budget.
  func decide(_ error: TaskError, of request: HTTPRequest) async throws -> NextMove {
    let failure = RetryPolicy.Failure(
      request: request, attempts: trace.flightRecord.attempts, error: error,
      retryAfter: RetryAfter.delay(in: error.headers), random: manager.random.unit())
    switch try await interruptible({ [retryPolicy] in try await retryPolicy.verdict(failure) }) {
    case .stand: return .stand
    case .giveUp(let reason): return giveUp(reason)
    case .retry(let delay):
      if let obstacle = obstacle(to: request, after: error, delay: delay) { return giveUp(obstacle) }
      return .retry(after: max(.zero, delay), reason: error.reason)
    }
  }

  /// Why a request is not sent again that the policy would send; nil where it is.
  private func obstacle(to request: HTTPRequest, after error: TaskError, delay: Duration) -> String? {
    guard request.body.isReplayable else { return "its body comes once" }
    guard error.isSurelyNotSent || request.isRepeatable(plan.idempotency) else { return Self.onceOnly(request.method) }
    if !error.isSurelyNotSent, let obstacle = obstacleOfSteps { return obstacle }
    if let remaining, delay >= remaining {
      return "the call's deadline comes before the delay of \(delay.formattedSeconds) is over"
    }
    // The server saw nothing of it, so that it is no load to the server either.
    guard !error.isSurelyNotSent, let host = Origin(request.url) else { return nil }
    return manager.retries.spend(for: host) ? nil : Self.exhausted(host)
  }

  /// Why a request is not sent again that steps have made of another; nil where it may be.
  private var obstacleOfSteps: String? {
    let (isOnceOnly, method) = state.withLock { ($0.hasSentOnceOnly, $0.method) }
    return isOnceOnly ? Self.onceOnly(method ?? .get) : nil
  }

  private static func onceOnly(_ method: HTTPMethod) -> String {
    "a \(method) may not be sent twice, unless the task's idempotency allows it"
  }

  private func giveUp(_ reason: String) -> NextMove {
    trace.note(.retryRefused(reason: reason))
    state.withLock { $0.refusal = (reason, retryPolicy.mostAttempts) }
    return .stand
  }

  /// Takes what a hedge costs from the host's budget; false, and noted, where there is nothing left, or where steps have
  /// made of the first request what may not be sent twice.
  func spendHedge(for host: Origin) -> Bool {
    let obstacle = obstacleOfSteps ?? (manager.retries.spend(for: host) ? nil : Self.exhausted(host))
    if let obstacle { trace.note(.retryRefused(reason: obstacle)) }
    return obstacle == nil
  }

  private static func exhausted(_ host: Origin) -> String { "the retry budget for \(host.host) is used up" }

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
