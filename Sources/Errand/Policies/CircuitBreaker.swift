/// The rules by which a host that fails gets no requests for a while.
///
///     await shop.update { $0.circuitBreaker = .standard }
///
/// A breaker is closed at first: all attempts pass and are counted. It opens once ``failureRatio`` of those within
/// ``window`` failed: calls fail at once with code `.circuitOpen`, and the host is sent nothing. After
/// ``openDuration`` it is half open: ``probes`` at a time may try. One that succeeds closes it, one that fails opens
/// it again.
///
/// Failures are the statuses from 500 on, and those of the network or the peer: no connection, a broken one, a time
/// limit of the transport. Those of this side are none: a cancellation, a full queue, a missing network, a refused
/// certificate, a body that was too large, an upload whose source gave nothing, what fails after a handle was paused
/// amid the exchange, and a limit of which the hosts that redirected here had used up most. A status below 500 is an answer.
public struct CircuitBreaker: Sendable, Hashable {
  /// The time for which an attempt counts; zero is no breaker.
  public var window: Duration
  /// The fewest attempts in the window at which it may open.
  public var minimumCalls: Int { didSet { minimumCalls = max(1, minimumCalls) } }
  /// The part of them that must have failed, from 0 to 1; one of them at least.
  public var failureRatio: Double { didSet { failureRatio = Self.bounded(failureRatio) } }
  /// The time for which it stays open.
  public var openDuration: Duration
  /// The most attempts at a time once that is over.
  public var probes: Int { didSet { probes = max(1, probes) } }

  /// A breaker like ``standard``, except for the given values.
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

  /// A ratio from 0 to 1; 1 for what is no number.
  private static func bounded(_ ratio: Double) -> Double { max(0, min(1, ratio)) }

  /// No breaker.
  public static let off = CircuitBreaker(window: .zero)

  /// Opens for 30 seconds when half of at least ten attempts in 30 seconds failed; then one probe at a time.
  public static let standard = CircuitBreaker()

  var isOff: Bool { window <= .zero }

  /// The state of a breaker.
  public enum State: Sendable, Hashable {
    /// Everything passes.
    case closed
    /// Nothing passes for the given time.
    case open(for: Duration)
    /// A few may try.
    case halfOpen
  }
}
