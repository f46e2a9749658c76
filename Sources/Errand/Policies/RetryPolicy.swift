/// The rules for retrying a failed attempt.
///
/// A policy says which failures are worth a retry, and when. It does not say which requests *may* be sent again: one
/// that the server may have seen is repeated only where that is harmless (``Idempotency``) and its body can be read
/// again; one that was surely not sent may always be. Nothing is retried after a cancellation, nor past the deadline
/// of the call.
public struct RetryPolicy: Sendable {
  /// The decision of a policy.
  public enum Decision: Sendable, Hashable {
    /// The failure stands.
    case giveUp
    /// Another attempt, after so long.
    case retry(after: Duration)
  }

  /// A failed attempt, as a policy sees it.
  public struct Failure: Sendable {
    /// The request as it was sent.
    public let request: HTTPRequest
    /// The attempts so far, this one included.
    public let attempts: [AttemptRecord]
    /// The error of the attempt: a transport's, or `.badStatus`.
    public let error: TaskError
    /// The wait that the server asked for with `Retry-After`, if it did.
    public let retryAfter: Duration?
    /// A number from 0 up to 1, for jitter.
    public let random: Double
  }

  /// The number of attempts after which none is retried, the first and hedges included. The last retry may have hedges
  /// of its own, which come on top: see ``Hedging``.
  public var maximumAttempts = 3
  /// The statuses that are worth a retry.
  public var statuses = RetryableStatuses.standard
  /// The upper bound of the first delay; it doubles with every attempt.
  public var baseDelay: Duration = .milliseconds(500)
  /// The largest bound for requests without a body. A `Retry-After` that asks for more ends the call.
  public var maximumDownloadDelay: Duration = .seconds(60)
  /// The largest bound for requests with one. A `Retry-After` that asks for more ends the call.
  public var maximumUploadDelay: Duration = .seconds(600)
  /// True where delays are drawn from zero up to the bound ("full jitter"), so that clients do not return in step.
  public var hasJitter = true

  private var decision: (@Sendable (Failure) async throws -> Decision)?
  /// True where every delay is the base.
  private var isFixed = false
  let isInherited: Bool

  private init(isInherited: Bool = false) { self.isInherited = isInherited }

  /// As the server says.
  public static let inherited = RetryPolicy(isInherited: true)

  /// Three attempts; after 408, 429, 502, 503, 504 and transient transport errors; exponential back-off with full
  /// jitter, or `Retry-After` if that is longer: up to 60 seconds, for requests with a body up to 600. Where it asks
  /// for more, the failure stands.
  public static let standard = RetryPolicy()

  /// One attempt.
  public static let never = RetryPolicy.attempts(1)

  /// Like ``standard``, with another number of attempts, the first included.
  public static func attempts(_ count: Int) -> RetryPolicy {
    var policy = RetryPolicy()
    policy.maximumAttempts = max(1, count)
    return policy
  }

  /// Up to `retries` attempts after the first, each after `delay`.
  public static func fixed(retries: Int, delay: Duration) -> RetryPolicy {
    var policy = attempts(min(max(0, retries), .max - 1) + 1)  // or the largest number would be a trap
    policy.baseDelay = delay
    policy.isFixed = true
    policy.hasJitter = false
    return policy
  }

  /// The policy of a closure: `decide` sees all attempts so far. An error that it throws ends the call.
  public static func decided(by decide: @escaping @Sendable (Failure) async throws -> Decision) -> RetryPolicy {
    var policy = RetryPolicy()
    policy.decision = decide
    return policy
  }

  /// A decision, with the reason where the policy gives up on a failure that is worth a retry.
  enum Verdict {
    case stand
    case giveUp(reason: String)
    case retry(after: Duration)
  }

  /// The most attempts there may be; nil where that is not known beforehand.
  var mostAttempts: Int? { decision == nil ? maximumAttempts : nil }

  func verdict(_ failure: Failure) async throws -> Verdict {
    if let decision {
      guard case .retry(let delay) = try await decision(failure) else { return .stand }
      return .retry(after: delay)
    }
    guard failure.attempts.count < maximumAttempts, isWorthAnotherTry(failure.error) else { return .stand }
    let cap = cap(for: failure.request)
    if let wait = failure.retryAfter, let reason = Self.refusal(of: wait, above: cap) { return .giveUp(reason: reason) }
    return .retry(after: max(failure.retryAfter ?? .zero, backoff(failure)))
  }

  /// The reason not to wait for as long as a server asks for; nil for no longer than `cap`.
  static func refusal(of wait: Duration, above cap: Duration) -> String? {
    guard wait > cap else { return nil }
    return "Retry-After asks for \(wait.formattedSeconds), more than the \(cap.formattedSeconds) of the retry policy"
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
    // Not the other way round: what doubles so often may be too large for a duration.
    let bound = baseDelay >= cap / (1 << doublings) ? cap : baseDelay * (1 << doublings)
    return hasJitter ? bound * failure.random : bound
  }
}
