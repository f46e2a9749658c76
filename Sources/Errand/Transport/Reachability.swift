/// Knows when it is worth trying again after a remote could not be reached.
///
/// One that returns at once does not have requests sent as fast as they fail: between two is a tenth of a second, and twice as long
/// after every failure, up to five seconds.
public protocol Reachability: Sendable {
  /// Returns when another try may succeed.
  ///
  /// - Parameters:
  ///   - origin: What could not be reached.
  ///   - failures: How often in a row, this time included.
  ///   - clock: By which to wait.
  /// - Throws: `CancellationError` when the surrounding task is cancelled first.
  func waitUntilReachable(_ origin: Origin, failures: Int, clock: CallClock) async throws
}

/// Waits longer after every failure: half a second, one, two, and so on up to a limit.
public struct PollingReachability: Reachability {
  /// The longest wait.
  public let longest: Duration

  /// Waits of at most `longest`.
  public init(longest: Duration = .seconds(8)) { self.longest = longest }

  /// Waits for the time that the number of failures says.
  public func waitUntilReachable(_ origin: Origin, failures: Int, clock: CallClock) async throws {
    try await clock.sleep(for: min(longest, .milliseconds(500) * (1 << min(failures - 1, 16))))
  }
}
