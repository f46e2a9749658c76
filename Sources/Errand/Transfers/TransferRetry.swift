import ErrandFoundation

/// The rules by which a transfer goes on after a failed attempt: the retry policy of its task, the retry budget of the host and the
/// deadline. What an attempt gained makes the next failure the first one again.
struct TransferRetry: Sendable {
  /// The most times in a row that a refused task is built and signed anew.
  private static let mostRenewals = 2

  private let policy: RetryPolicy
  private let manager: TaskManager
  private let limit: Duration?
  private let start: Duration
  /// The attempts since something was gained.
  private var attempts: [AttemptRecord] = []
  private var renewals = 0
  /// True where the last attempt brought nothing.
  private var isRepetition = false

  init(_ plan: TaskPlan) {
    let configuration = plan.server.snapshot.configuration
    policy = plan.retryPolicy(under: configuration)
    manager = plan.server.manager
    limit = plan.timeouts.orElse(configuration.timeouts).bounded.call
    start = manager.clock.now
  }

  /// The time until the deadline of the transfer; nil where there is none.
  var remaining: Duration? { limit.map { $0 - (manager.clock.now - start) } }

  /// The time until the deadline, for a request; nil where there is none.
  /// Throws ``TaskError`` with code `.timedOut` where it is over.
  func time() throws -> Duration? {
    guard let limit, let remaining, remaining <= .zero else { return remaining }
    throw TaskError.timeout(.call, after: limit, phase: .preparing, isSurelyNotSent: true)
  }

  /// An error of a request: where it ran into what was left of the deadline, it names the deadline.
  func attributed(_ error: TaskError) -> TaskError {
    guard let limit, error.timer == .call, error.limit != limit, !error.isOfAnotherCall else { return error }
    return error.relimited(to: limit)
  }

  /// Waits while the transfer is paused.
  /// Throws ``TaskError`` with code `.timedOut` at the deadline, which pauses count to, and `CancellationError`.
  func pass(_ desk: TransferDesk) async throws {
    guard let remaining else { return try await desk.pass() }
    _ = try await manager.clock.within(max(.zero, remaining)) { try await desk.pass() }
    _ = try time()
  }

  /// The reason not to wait for as long as a server asks for; nil where its policy allows it.
  func refusal(of delay: Duration) -> String? { RetryPolicy.refusal(of: delay, above: policy.maximumUploadDelay) }

  /// True where the last attempt failed.
  var hasFailed: Bool { !attempts.isEmpty }

  /// Notes that an attempt brought the transfer on.
  mutating func gained() { (attempts, renewals) = ([], 0) }

  /// True where a task that was refused, as with the signature of a URL that has expired, is to be built once more.
  mutating func mayRenew() -> Bool {
    renewals += 1
    return renewals <= Self.mostRenewals
  }

  /// Notes an attempt that failed.
  ///
  /// - Parameters:
  ///   - error: Its failure.
  ///   - hasGained: Whether it brought the transfer on: going on from there is no repetition.
  mutating func failed(_ error: TaskError, hasGained: Bool) {
    if hasGained { gained() }
    isRepetition = !hasGained
    var record = error.attempts.last ?? AttemptRecord(number: attempts.count + 1)
    record.failure = record.failure ?? error.reason
    attempts.append(record)
  }

  /// The delay before the next attempt, after one that was noted.
  /// Throws `error`, with the reason, where there is none.
  ///
  /// - Parameters:
  ///   - error: Its failure.
  ///   - request: Its request, as far as it is known.
  ///   - onceOnly: The method of what would be sent again, where that may not be; nil where it may.
  ///   - waited: The part of what the server asks for that is over.
  func delay(
    after error: TaskError, _ request: HTTPRequest, onceOnly: HTTPMethod? = nil, waited: Duration = .zero
  ) async throws -> Duration {
    let failure = RetryPolicy.Failure(
      request: request, attempts: attempts, error: error,
      retryAfter: RetryAfter.delay(in: error.headers, now: manager.dates.now).map { max(.zero, $0 - waited) },
      random: manager.random.unit())
    var refused = attributed(error)
    (refused.attemptCount, refused.elapsed) = (attempts.count, manager.clock.now - start)
    let verdict = try await policy.verdict(failure)
    if case .stand = verdict { throw refused }
    refused.mostAttempts = policy.mostAttempts
    switch verdict {
    case .stand: throw refused
    case .giveUp(let reason): refused.retryRefusal = reason
    case .retry(let delay):
      if let onceOnly {
        refused.retryRefusal = Call.onceOnly(onceOnly)
      } else if let remaining, delay >= remaining {
        refused.retryRefusal = "the call's deadline comes before the delay of \(delay.formattedSeconds) is over"
      } else if isRepetition, !error.isSurelyNotSent, let host = Origin(request.url), !manager.retries.spend(for: host)
      {
        refused.retryRefusal = Call.exhausted(host)
      } else {
        return max(.zero, delay)
      }
    }
    throw refused
  }
}
