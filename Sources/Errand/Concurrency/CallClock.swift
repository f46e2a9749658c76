/// The clock that calls use to wait and measure time. Wraps any `Clock` whose duration type is `Duration`.
///
/// Every wait in the library (backoff, deadlines, admission) uses this clock, so tests with a manual clock don't wait
/// in real time.
public struct CallClock: Sendable {
  /// Holds the clock in a single reference, because every call stores its clock several times.
  private final class Wrapped: Sendable {
    let elapsed: @Sendable () -> Duration
    let wait: @Sendable (Duration) async throws -> Void

    init(elapsed: @escaping @Sendable () -> Duration, wait: @escaping @Sendable (Duration) async throws -> Void) {
      self.elapsed = elapsed
      self.wait = wait
    }
  }

  private let clock: Wrapped

  /// Wraps a clock. ``now`` starts at zero.
  public init<C: Clock<Duration>>(_ clock: C) {
    let origin = clock.now
    self.clock = Wrapped(
      elapsed: Self.reading(of: clock, since: origin),
      // A server can request a wait of any length with Retry-After, and the system clocks trap on waits of several
      // centuries.
      wait: { try await clock.sleep(until: clock.now.advanced(by: min($0, Self.longestWait)), tolerance: nil) })
  }

  /// Returns a closure that reads the time since `origin`. Has a fast path for the system clock, which is read often.
  private static func reading<C: Clock<Duration>>(of clock: C, since origin: C.Instant) -> @Sendable () -> Duration {
    // Another clock may use the system clock's instant type.
    guard clock is ContinuousClock, let origin = origin as? ContinuousClock.Instant else {
      return { origin.duration(to: clock.now) }
    }
    return { origin.duration(to: .now) }
  }

  private static let longestWait = Duration.seconds(3_200_000_000)

  /// The system's continuous clock, which also advances while the machine sleeps.
  public static let continuous = CallClock(ContinuousClock())

  /// The time elapsed since the clock was wrapped.
  public var now: Duration { clock.elapsed() }

  /// Waits for `duration`. Throws `CancellationError` if the surrounding task is cancelled first.
  public func sleep(for duration: Duration) async throws {
    try await clock.wait(duration)
  }

  /// Waits until a limit expires. If the process was suspended in the meantime, waits a little longer, so that a
  /// response that arrived during the suspension can still be read.
  package func sleep(untilLimit limit: Duration) async throws {
    let start = ContinuousClock.now
    try await sleep(for: limit)
    if ContinuousClock.now - start > limit + Self.grace { try await Task.sleep(for: Self.grace) }
  }

  private static let grace = Duration.milliseconds(100)

  /// Runs `body`, which must respond to cancellation, with a time limit. Returns `nil` if the limit expires first.
  package func within<Value: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value? {
    let start = now
    return try await withThrowingTaskGroup(of: Value?.self) { group in
      group.addTask { try await body() }
      group.addTask {
        try? await sleep(for: limit - (now - start))
        return nil
      }
      defer { group.cancelAll() }
      if let value = try await group.next() ?? nil { return value }
      // Don't lose a value that arrives while the limit expires: it may be a response that must be released.
      group.cancelAll()
      do {
        return try await group.next() ?? nil
      } catch {
        try Task.checkCancellation()
        return nil
      }
    }
  }
}
