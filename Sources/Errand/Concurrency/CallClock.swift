/// The clock by which calls wait and measure: any `Clock` of `Duration`, read as the time since it was wrapped.
///
/// Every wait of the library (back-off, deadlines, admission) goes through one of these, so a test that hands in a
/// manual clock never waits for real.
public struct CallClock: Sendable {
  /// A clock as it was wrapped: one reference, for every call holds its clock several times.
  private final class Wrapped: Sendable {
    let elapsed: @Sendable () -> Duration
    let wait: @Sendable (Duration) async throws -> Void

    init(elapsed: @escaping @Sendable () -> Duration, wait: @escaping @Sendable (Duration) async throws -> Void) {
      self.elapsed = elapsed
      self.wait = wait
    }
  }

  private let clock: Wrapped

  /// Wraps `clock`; its present instant becomes zero.
  public init<C: Clock<Duration>>(_ clock: C) {
    let origin = clock.now
    self.clock = Wrapped(
      elapsed: Self.reading(of: clock, since: origin),
      // A server may ask for any wait with Retry-After; the system's clocks trap past some centuries.
      wait: { try await clock.sleep(until: clock.now.advanced(by: min($0, Self.longestWait)), tolerance: nil) })
  }

  /// The time since `origin`; the machine's clock, which is read often, without the detour of a generic one.
  private static func reading<C: Clock<Duration>>(of clock: C, since origin: C.Instant) -> @Sendable () -> Duration {
    guard let origin = origin as? ContinuousClock.Instant else { return { origin.duration(to: clock.now) } }
    return { origin.duration(to: .now) }
  }

  private static let longestWait = Duration.seconds(3_200_000_000)

  /// The clock of the machine, which also counts while it sleeps.
  public static let continuous = CallClock(ContinuousClock())

  /// The time since the clock was wrapped.
  public var now: Duration { clock.elapsed() }

  /// Waits for `duration`.
  /// Throws `CancellationError` when the surrounding task is cancelled first.
  public func sleep(for duration: Duration) async throws {
    try await clock.wait(duration)
  }

  /// Runs `body` under a time limit, which begins now.
  ///
  /// - Parameters:
  ///   - limit: The time that it may take.
  ///   - body: The code to run; it must heed cancellation.
  /// - Returns: What `body` returns; nil where the limit came first.
  /// - Throws: What `body` throws, and `CancellationError` when the surrounding task is cancelled first.
  func within<Value: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value? {
    let start = now
    return try await withThrowingTaskGroup(of: Value?.self) { group in
      group.addTask { try await body() }
      group.addTask {
        try await sleep(for: limit - (now - start))
        return nil
      }
      defer { group.cancelAll() }
      guard let first = try await group.next() else { throw CancellationError() }
      return first
    }
  }
}
