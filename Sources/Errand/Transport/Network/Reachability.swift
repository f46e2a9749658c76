/// Decides when to retry after a server could not be reached.
///
/// An implementation that returns immediately doesn't cause a busy loop, because Errand also waits between attempts: at
/// least 0.1 seconds after the first failure, and twice as long after each further failure, up to five seconds.
public protocol Reachability: Sendable {
  /// Returns when another attempt might succeed.
  ///
  /// - Parameters:
  ///   - origin: The origin that could not be reached.
  ///   - failures: The number of consecutive failures, including this one.
  ///   - clock: The clock to wait with.
  /// - Throws: `CancellationError` if the surrounding task is cancelled.
  func waitUntilReachable(_ origin: Origin, failures: Int, clock: CallClock) async throws
}

/// Waits half a second after the first failure and doubles the wait after each further failure, up to a limit.
public struct PollingReachability: Reachability {
  /// The maximum wait.
  public let longest: Duration

  /// Creates a policy that waits at most `longest`, which defaults to 8 seconds.
  public init(longest: Duration = .seconds(8)) { self.longest = longest }

  /// Waits for a time that depends on the number of failures.
  public func waitUntilReachable(_ origin: Origin, failures: Int, clock: CallClock) async throws {
    try await clock.sleep(for: min(longest, .milliseconds(500) * (1 << min(failures - 1, 16))))
  }
}
