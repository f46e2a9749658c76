/// Decides which failed attempts are retried, and when.
///
/// The policy does not decide which requests *can* be resent. A request that the server may have received is retried
/// only if that is safe (``Idempotency``) and its body can be read again. A request that was not sent can always be
/// retried. Nothing is retried after a cancellation or when the call's deadline has passed.
public struct RetryPolicy: Sendable {
  /// A policy's decision.
  public enum Decision: Sendable, Hashable {
    /// Don't retry.
    case giveUp
    /// Retry after the delay.
    case retry(after: Duration)
  }

  /// A failed attempt.
  public struct Failure: Sendable {
    /// The request as sent.
    public let request: HTTPRequest
    /// The attempts so far, including this one.
    public let attempts: [AttemptRecord]
    /// The attempt's error: a transport error or `.badStatus`.
    public let error: TaskError
    /// The delay from the response's `Retry-After`, if present.
    public let retryAfter: Duration?
    /// A random number in `0..<1`, for jitter.
    public let random: Double

    package init(
      request: HTTPRequest, attempts: [AttemptRecord], error: TaskError, retryAfter: Duration?, random: Double
    ) {
      self.request = request
      self.attempts = attempts
      self.error = error
      self.retryAfter = retryAfter
      self.random = random
    }
  }

  /// The maximum number of attempts, including the first attempt and hedges. Defaults to 3. The last retry can have
  /// additional hedges (see ``Hedging``).
  public var maximumAttempts = 3
  /// The statuses that are retried.
  public var statuses = RetryableStatuses.standard
  /// The upper limit of the first delay, which doubles with every attempt. Defaults to 0.5 seconds.
  public var baseDelay: Duration = .milliseconds(500)
  /// The maximum delay for requests without a body. A longer `Retry-After` fails the call. Defaults to 60 seconds.
  public var maximumDownloadDelay: Duration = .seconds(60)
  /// The maximum delay for requests with a body. A longer `Retry-After` fails the call. Defaults to 600 seconds.
  public var maximumUploadDelay: Duration = .seconds(600)
  /// Whether each delay is a random time between zero and its upper limit ("full jitter"), so that clients don't retry
  /// in sync.
  public var hasJitter = true

  private var decision: (@Sendable (Failure) async throws -> Decision)?
  private var isFixed = false
  let isInherited: Bool

  private init(isInherited: Bool = false) { self.isInherited = isInherited }

  /// The server's policy.
  public static let inherited = RetryPolicy(isInherited: true)

  /// Makes up to three attempts. Retries 408, 429, 502, 503, 504 and transient transport errors.
  ///
  /// The delay is exponential backoff with full jitter, or `Retry-After` if that is longer. It is at most 60 seconds,
  /// or 600 for requests with a body. A longer `Retry-After` fails the call.
  public static let standard = RetryPolicy()

  /// Never retries.
  public static let never = RetryPolicy.attempts(1)

  /// Retries like ``standard``, with at most `count` attempts, including the first.
  public static func attempts(_ count: Int) -> RetryPolicy {
    var policy = RetryPolicy()
    policy.maximumAttempts = max(1, count)
    return policy
  }

  /// Retries up to `retries` times, each after `delay`.
  public static func fixed(retries: Int, delay: Duration) -> RetryPolicy {
    var policy = attempts(min(max(0, retries), .max - 1) + 1)  // avoid overflow
    policy.baseDelay = delay
    policy.isFixed = true
    policy.hasJitter = false
    return policy
  }

  /// Calls `decide` after each failed attempt. An error thrown by `decide` fails the call.
  public static func decided(by decide: @escaping @Sendable (Failure) async throws -> Decision) -> RetryPolicy {
    var policy = RetryPolicy()
    policy.decision = decide
    return policy
  }

  /// A decision, including the reason if a retryable failure is not retried.
  package enum Verdict {
    case stand
    case giveUp(reason: String)
    case retry(after: Duration)
  }

  /// The maximum number of attempts. `nil` if a closure decides.
  package var mostAttempts: Int? { decision == nil ? maximumAttempts : nil }

  package func verdict(_ failure: Failure) async throws -> Verdict {
    if let decision {
      guard case .retry(let delay) = try await decision(failure) else { return .stand }
      return .retry(after: delay)
    }
    guard failure.attempts.count < maximumAttempts, isWorthAnotherTry(failure.error) else { return .stand }
    let cap = cap(for: failure.request)
    if let wait = failure.retryAfter, let reason = Self.refusal(of: wait, above: cap) { return .giveUp(reason: reason) }
    return .retry(after: max(failure.retryAfter ?? .zero, backoff(failure)))
  }

  /// Returns the reason for not retrying if `wait` exceeds `cap`, otherwise `nil`.
  package static func refusal(of wait: Duration, above cap: Duration) -> String? {
    guard wait > cap else { return nil }
    return "Retry-After is \(wait.formattedSeconds), but the retry policy waits at most \(cap.formattedSeconds)"
  }

  private func isWorthAnotherTry(_ error: TaskError) -> Bool {
    error.code == .badStatus ? error.status.map(statuses.contains) ?? false : error.isRetryable
  }

  private func cap(for request: HTTPRequest) -> Duration {
    let cap = request.body.isEmpty ? maximumDownloadDelay : maximumUploadDelay
    return isFixed ? max(cap, baseDelay) : cap
  }

  private func backoff(_ failure: Failure) -> Duration {
    let doublings = isFixed ? 0 : min(max(0, failure.attempts.count - 1), 30)
    let cap = cap(for: failure.request)
    // Compare by division: multiplying first could overflow.
    let bound = baseDelay >= cap / (1 << doublings) ? cap : baseDelay * (1 << doublings)
    return hasJitter ? bound * failure.random : bound
  }
}
