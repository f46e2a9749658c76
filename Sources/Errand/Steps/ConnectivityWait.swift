/// Waits for a network where there is none, instead of failing: what `waitsForConnectivity` installs.
///
/// Only failures after which the server surely saw nothing are waited out, so that any method may be tried again. All
/// waits of a call share one allowance; when it is used up the failure stands.
struct ConnectivityWait: PerAttemptStep {
  let reachability: any Reachability
  let allowance: ConnectivityAllowance
  let clock: CallClock

  func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
    var failures = 0
    while true {
      do {
        return try await next(request)
      } catch let error as TaskError where error.isOffline && error.isSurelyNotSent {
        guard let origin = Origin(request.url) else { throw error }
        failures += 1
        guard try await wait(for: origin, failures) else { throw allowance.exceeded(error) }
      }
    }
  }

  /// Waits for another try; false when the time is over.
  private func wait(for origin: Origin, _ failures: Int) async throws -> Bool {
    let left = allowance.left
    guard left > .zero else { return false }
    let start = clock.now
    defer { allowance.spend(clock.now - start) }
    let hasCome = Lock(false)
    _ = try await clock.within(left) {
      try await reachability.waitUntilReachable(origin, failures: failures, clock: clock)
      try Task.checkCancellation()  // it may return rather than throw when its time is over
      hasCome.withLock { $0 = true }
      // One that is wrong and says so at once must not send as fast as it can. The last try comes as the time ends.
      let rest = Self.leastWait(failures) - (clock.now - start)
      if rest > .zero { try await clock.sleep(for: rest) }
    }
    return hasCome.withLock { $0 }
  }

  /// The least time between two tries: a tenth of a second, and twice as long after every failure, up to five seconds.
  private static func leastWait(_ failures: Int) -> Duration {
    min(.seconds(5), .milliseconds(100) * (1 << min(failures - 1, 6)))
  }
}

/// The time that a call may still wait for a network, over all of its attempts.
final class ConnectivityAllowance: Sendable {
  private let limit: Duration
  private let spent = Lock(Duration.zero)

  init(_ limit: Duration) { self.limit = limit }

  var left: Duration { limit - spent.withLock { $0 } }

  func spend(_ time: Duration) { spent.withLock { $0 += time } }

  /// The failure, with a word on why it is not waited out any longer.
  func exceeded(_ error: TaskError) -> TaskError {
    var error = error
    error.reason += ", and no network came within the \(limit.formattedSeconds) of connectivityTimeout"
    return error
  }
}
