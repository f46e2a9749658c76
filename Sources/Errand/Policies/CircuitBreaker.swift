/// When a host that fails is left alone for a while.
///
///     await shop.update { $0.circuitBreaker = .standard }
///
/// A breaker is closed at first: everything passes and is counted. When so much of what was sent within ``window``
/// failed, it opens: calls fail at once with code `.circuitOpen`, and the host is sent nothing. After
/// ``openDuration`` it is half open: ``probes`` at a time may try. One that succeeds closes it, one that fails opens
/// it again.
///
/// Failures are the statuses from 500 on, and what the network or the peer did: no connection, a broken one, a timer
/// of the transport. What happened on this side is none: a cancellation, a full queue, a missing network, a refused
/// certificate, a body that was too large. A status below 500 is an answer.
public struct CircuitBreaker: Sendable, Hashable {
  /// How long what happened counts; zero is no breaker.
  public var window: Duration
  /// How many attempts there must be in the window before it may open.
  public var minimumCalls: Int
  /// Which part of them must have failed, from 0 to 1.
  public var failureRatio: Double
  /// How long it stays open.
  public var openDuration: Duration
  /// How many may try at a time once that is over.
  public var probes: Int

  /// A breaker like ``standard`` but for what is given.
  public init(
    window: Duration = .seconds(30), minimumCalls: Int = 10, failureRatio: Double = 0.5,
    openDuration: Duration = .seconds(30), probes: Int = 1
  ) {
    self.window = window
    self.minimumCalls = max(1, minimumCalls)
    self.failureRatio = failureRatio
    self.openDuration = openDuration
    self.probes = max(1, probes)
  }

  /// No breaker.
  public static let off = CircuitBreaker(window: .zero)

  /// Opens for 30 seconds when half of at least ten attempts in 30 seconds failed; then one probe at a time.
  public static let standard = CircuitBreaker()

  var isOff: Bool { window <= .zero }

  /// What a breaker is at.
  public enum State: Sendable, Hashable {
    /// Everything passes.
    case closed
    /// Nothing passes for so long.
    case open(for: Duration)
    /// A few may try.
    case halfOpen
  }
}
