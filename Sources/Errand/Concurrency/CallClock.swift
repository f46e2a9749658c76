/// The clock by which calls wait and measure: any `Clock` of `Duration`, read as the time since it was wrapped.
///
/// Every wait of the library (back-off, deadlines, admission) goes through one of these, so a test that hands in a
/// manual clock never waits for real.
public struct CallClock: Sendable {
  private let elapsed: @Sendable () -> Duration
  /// When the machine's clock was wrapped, which is read often; nil for any other.
  private let start: ContinuousClock.Instant?
  private let wait: @Sendable (Duration) async throws -> Void

  /// Wraps `clock`; its present instant becomes zero.
  public init<C: Clock<Duration>>(_ clock: C) {
    let origin = clock.now
    start = origin as? ContinuousClock.Instant
    elapsed = { origin.duration(to: clock.now) }
    // A server may ask for any wait with Retry-After; the system's clocks trap past some centuries.
    wait = { try await clock.sleep(until: clock.now.advanced(by: min($0, Self.longestWait)), tolerance: nil) }
  }

  private static let longestWait = Duration.seconds(3_200_000_000)

  /// The clock of the machine, which also counts while it sleeps.
  public static let continuous = CallClock(ContinuousClock())

  /// The time since the clock was wrapped.
  public var now: Duration {
    guard let start else { return elapsed() }
    return start.duration(to: .now)
  }

  /// Waits for `duration`.
  /// Throws `CancellationError` when the surrounding task is cancelled first.
  public func sleep(for duration: Duration) async throws {
    try await wait(duration)
  }
}
