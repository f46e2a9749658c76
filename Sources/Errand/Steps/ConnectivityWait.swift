/// Waits for a network instead of failing, if `waitsForConnectivity` is set.
///
/// Waits only if a request was not sent, so any method can be retried. All waits of a call share one time allowance.
/// When the allowance is used up, the call fails.
struct ConnectivityWait: Sendable {
  let reachability: any Reachability
  let allowance: ConnectivityAllowance
  let clock: CallClock
  let redaction: Redaction

  func send(
    _ request: HTTPRequest, _ trace: CallTrace, _ next: (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    var failures = 0
    var last: TaskError?
    while true {
      do {
        return try await next(request)
      } catch let error as TaskError where waitsOut(error) {
        guard let origin = Origin(request.url) else { throw error }
        failures += 1
        trace.note(.networkWaitStarted(reason: error.shownReason(redaction).onOneLine))
        defer { trace.note(.networkWaitEnded) }
        guard try await wait(for: origin, failures) else { throw allowance.exceeded(error) }
        last = error
      } catch let error as TaskError where error.code == .bodyNotReplayable {
        guard var cause = last else { throw error }  // report the connectivity error instead
        cause.reason += "; not retried: the request body can only be read once"
        throw cause
      }
    }
  }

  func waitsOut(_ error: any Error) -> Bool {
    guard let error = error as? TaskError else { return false }
    return error.isOffline && error.wasNotSent
  }

  var hasTime: Bool { allowance.left(at: clock.now) > .zero }

  /// Waits until the request can be retried. Returns `false` if the time is up.
  private func wait(for origin: Origin, _ failures: Int) async throws -> Bool {
    let start = clock.now
    let left = allowance.begin(at: start)
    defer { allowance.end(at: clock.now) }
    guard left > .zero else { return false }
    let hasCome = Lock(false)
    _ = try await clock.within(left) {
      try await reachability.waitUntilReachable(origin, failures: failures, clock: clock)
      try Task.checkCancellation()  // `reachability` may return instead of throwing when the time is up
      hasCome.withLock { $0 = true }
      // Limit the retry rate in case reachability wrongly returns immediately. The last retry is made when the time is
      // up.
      let rest = Self.leastWait(failures) - (clock.now - start)
      if rest > .zero { try await clock.sleep(for: rest) }
    }
    return hasCome.withLock { $0 }
  }

  /// Returns the minimum time between two retries: 0.1 seconds, doubled after every failure, up to 5 seconds.
  private static func leastWait(_ failures: Int) -> Duration {
    min(.seconds(5), .milliseconds(100) * (1 << min(failures - 1, 6)))
  }
}

/// The total time that the attempts of a call may wait for a network. Concurrent waits count once.
final class ConnectivityAllowance: Sendable {
  private struct State {
    var spent = Duration.zero
    var waiting = 0
    /// The time up to which waits are included in `spent`.
    var countedTo = Duration.zero

    mutating func count(to now: Duration) {
      if waiting > 0 { spent += now - countedTo }
      countedTo = now
    }
  }

  private let limit: Duration
  private let state = Lock(State())

  init(_ limit: Duration) { self.limit = limit }

  func left(at now: Duration) -> Duration {
    state.withLock { state in
      state.count(to: now)
      return limit - state.spent
    }
  }

  func begin(at now: Duration) -> Duration {
    state.withLock { state in
      state.count(to: now)
      state.waiting += 1
      return limit - state.spent
    }
  }

  func end(at now: Duration) {
    state.withLock { state in
      state.count(to: now)
      state.waiting -= 1
    }
  }

  func exceeded(_ error: TaskError) -> TaskError {
    var error = error
    error.reason += ", even after waiting \(limit.formattedSeconds) for connectivity (connectivityTimeout)"
    return error
  }
}
