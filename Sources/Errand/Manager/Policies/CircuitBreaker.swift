/// A circuit breaker, which stops requests to a failing host for a while.
///
///     await shop.update { $0.circuitBreaker = .standard }
///
/// While the breaker is closed, all attempts pass and are counted. The breaker opens when ``failureRatio`` of the
/// attempts within ``window`` have failed. While it is open, calls fail immediately with code `.circuitOpen`, and
/// nothing is sent to the host. After ``openDuration`` it is half open and lets up to ``probes`` attempts through
/// concurrently. If one succeeds, the breaker closes; if one fails, it opens again.
///
/// Statuses of 500 and above count as failures. Network and server errors count too: no connection, a broken
/// connection, or a transport timeout. Client-side errors don't count: cancellation, a full queue, no network, a
/// rejected certificate, an oversized body, an upload whose source produced no data, a failure after a handle was
/// paused during the exchange, or a timeout that earlier hosts in a redirect chain mostly used up.
public struct CircuitBreaker: Sendable, Hashable {
  /// How long each attempt is counted. Zero turns the breaker off.
  public var window: Duration
  /// The minimum number of attempts in the window before the breaker can open.
  public var minimumCalls: Int { didSet { minimumCalls = max(1, minimumCalls) } }
  /// The ratio of failed attempts that opens the breaker, from 0 to 1. At least one attempt must have failed.
  public var failureRatio: Double { didSet { failureRatio = Self.bounded(failureRatio) } }
  /// How long the breaker stays open.
  public var openDuration: Duration
  /// The maximum number of concurrent attempts while half open.
  public var probes: Int { didSet { probes = max(1, probes) } }

  /// Creates a breaker. Every parameter defaults to its value in ``standard``.
  public init(
    window: Duration = .seconds(30), minimumCalls: Int = 10, failureRatio: Double = 0.5,
    openDuration: Duration = .seconds(30), probes: Int = 1
  ) {
    self.window = window
    self.minimumCalls = max(1, minimumCalls)
    self.failureRatio = Self.bounded(failureRatio)
    self.openDuration = openDuration
    self.probes = max(1, probes)
  }

  /// Clamps the ratio to 0...1. NaN becomes 1.
  private static func bounded(_ ratio: Double) -> Double { max(0, min(1, ratio)) }

  /// No breaker.
  public static let off = CircuitBreaker(window: .zero)

  /// Opens for 30 seconds if half of at least ten attempts within 30 seconds have failed, then allows one probe at a
  /// time.
  public static let standard = CircuitBreaker()

  var isOff: Bool { window <= .zero }

  /// The state of a circuit breaker.
  public enum State: Sendable, Hashable {
    /// All attempts pass.
    case closed
    /// No attempts pass for the given time.
    case open(for: Duration)
    /// A limited number of attempts pass.
    case halfOpen
  }
}
