/// Waits until the system reports a network, for example because Wi-Fi is connected again.
///
/// Asks `NWPathMonitor` on Apple platforms and the kernel (rtnetlink) on Linux. ``polling`` is used as well, because the
/// system doesn't know when a server or a router is back. The system reports changes only while calls are
/// waiting.
public struct SystemReachability: Reachability {
  /// The policy for failures whose end the system doesn't report.
  public let polling: any Reachability
  private let changes: NetworkChanges

  /// Creates a policy that also retries when `polling` returns. Defaults to ``PollingReachability``.
  public init(polling: any Reachability = PollingReachability()) { self.init(polling: polling, changes: .shared) }

  init(polling: any Reachability, changes: NetworkChanges) {
    self.polling = polling
    self.changes = changes
  }

  /// Waits for a network change or for ``polling``, whichever ends first.
  public func waitUntilReachable(_ origin: Origin, failures: Int, clock: CallClock) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await changes.next() }
      group.addTask { try await polling.waitUntilReachable(origin, failures: failures, clock: clock) }
      defer { group.cancelAll() }
      try await group.next()
    }
  }
}
