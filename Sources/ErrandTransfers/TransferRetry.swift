import Errand
import ErrandFoundation

/// Decides whether a transfer continues after a failed attempt, based on the task's retry policy, the host's retry
/// budget and the deadline. An attempt that makes progress resets the retry count. A transfer also outlasts an open
/// circuit and an outage of the token endpoint, up to the same number of attempts.
struct TransferRetry: Sendable {
  /// The maximum number of times in a row that a rejected task is rebuilt and signed again.
  private static let mostRenewals = 2

  private let policy: RetryPolicy
  private let manager: TaskManager
  private let limit: Duration?
  private let start: Duration
  /// How long a circuit stays open.
  private let openDuration: Duration
  /// The attempts that have failed since progress was last made.
  private var attempts: [AttemptRecord] = []
  /// The attempts that a circuit breaker has refused since then, without another attempt in between.
  private var refusals: [AttemptRecord] = []
  private var renewals = 0
  /// Whether the last attempt made no progress.
  private var isRepetition = false

  init(_ plan: TaskPlan) {
    let configuration = plan.settings.configuration
    policy = plan.retryPolicy(under: configuration)
    openDuration = configuration.circuitBreaker.openDuration
    manager = plan.server.manager
    limit = plan.timeouts.orElse(configuration.timeouts).bounded.call
    start = manager.clock.now
  }

  /// The time left until the transfer's deadline. `nil` without a deadline.
  var remaining: Duration? { limit.map { $0 - (manager.clock.now - start) } }

  /// Returns the time left for the next request, or `nil` without a deadline. Throws `TaskError` with code
  /// `.timedOut` if the deadline has passed.
  func time() throws -> Duration? {
    guard let limit, let remaining, remaining <= .zero else { return remaining }
    throw TaskError.timeout(.call, after: limit, phase: .preparing, wasNotSent: true)
  }

  /// If the error is a timeout at the transfer's deadline, returns it with the transfer's limit instead of the
  /// request's.
  func attributed(_ error: TaskError) -> TaskError {
    guard let limit, error.timer == .call, error.limit != limit, !error.isFromAnotherCall else { return error }
    return error.relimited(to: limit)
  }

  /// Waits while the transfer is paused. Pauses count toward the deadline. Throws `TaskError` with code `.timedOut`
  /// at the deadline, and `CancellationError` if the run is cancelled.
  func pass(_ coordinator: TransferCoordinator) async throws {
    guard let remaining else { return try await coordinator.pass() }
    _ = try await manager.clock.within(max(.zero, remaining)) { try await coordinator.pass() }
    _ = try time()
  }

  /// Returns the reason why a delay set by the server is too long, or `nil` if the policy allows it.
  func refusal(of delay: Duration) -> String? { RetryPolicy.refusal(of: delay, above: policy.maximumUploadDelay) }

  /// Whether an attempt has failed since progress was last made.
  var hasFailed: Bool { !attempts.isEmpty }

  mutating func gained() { (attempts, refusals, renewals) = ([], [], 0) }

  /// Whether to rebuild a rejected task, for example because its URL signature has expired. Each call counts toward the
  /// limit.
  mutating func mayRenew() -> Bool {
    renewals += 1
    return renewals <= Self.mostRenewals
  }

  /// Records a failed attempt. If it made progress, the next attempt does not count as a retry.
  mutating func failed(_ error: TaskError, hasGained: Bool) {
    if hasGained { gained() }
    isRepetition = !hasGained
    var record = error.attempts.last ?? AttemptRecord(number: attempts.count + 1)
    record.failure = record.failure ?? error.reason
    if error.code == .circuitOpen {
      refusals.append(record)
    } else {
      refusals = []
      attempts.append(record)
    }
  }

  /// Returns the policy's verdict on a failed attempt, and at least the delay until its circuit lets a request through.
  private func verdict(
    on error: TaskError, _ request: HTTPRequest, waited: Duration
  ) async throws -> RetryPolicy.Verdict {
    let isRefused = error.code == .circuitOpen
    // These errors end a single call, so a policy would not retry them. The app's closure receives the actual error.
    let isOutlasted = policy.mostAttempts != nil && error.isTransient && !error.isRetryable
    let failure = RetryPolicy.Failure(
      request: request, attempts: isOutlasted && isRefused ? refusals : attempts + refusals,
      error: isOutlasted ? TaskError(.connectionLost, error.reason, phase: error.phase) : error,
      retryAfter: RetryAfter.delay(in: error.headers, now: manager.dates.now).map { max(.zero, $0 - waited) },
      random: manager.random.unit())
    let verdict = try await policy.verdict(failure)
    guard isRefused, case .retry(let delay) = verdict else { return verdict }
    return .retry(after: max(delay, circuitDelay(request)))
  }

  /// The time until the circuit of the request's host is half open. If that is unknown, for example because another
  /// call is the probe, the time that a circuit stays open.
  private func circuitDelay(_ request: HTTPRequest) -> Duration {
    guard let host = Origin(request.url), case .open(let time) = manager.circuit(of: host) else { return openDuration }
    return time
  }

  /// Returns the delay before the next attempt. Call `failed(_:hasGained:)` first. If the transfer must not be retried,
  /// throws `error` with the reason. `onceOnly` is the method of the request if it must not be resent. `waited` is how
  /// much of the server's `Retry-After` has already passed.
  func delay(
    after error: TaskError, _ request: HTTPRequest, onceOnly: HTTPMethod? = nil, waited: Duration = .zero
  ) async throws -> Duration {
    var refused = attributed(error)
    (refused.attemptCount, refused.elapsed) = (attempts.count + refusals.count, manager.clock.now - start)
    let verdict = try await verdict(on: error, request, waited: waited)
    if case .stand = verdict { throw refused }
    refused.mostAttempts = policy.mostAttempts
    switch verdict {
    case .stand: throw refused
    case .giveUp(let reason): refused.retryRefusal = reason
    case .retry(let delay):
      if let onceOnly {
        refused.retryRefusal = Call.onceOnly(onceOnly)
      } else if let remaining, delay >= remaining {
        refused.retryRefusal = "the call's deadline would expire during the retry delay of \(delay.formattedSeconds)"
      } else if isRepetition, !error.wasNotSent, let host = Origin(request.url), !manager.retries.spend(for: host) {
        refused.retryRefusal = Call.exhausted(host)
      } else {
        return max(.zero, delay)
      }
    }
    throw refused
  }
}
