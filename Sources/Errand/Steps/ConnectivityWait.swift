/// Waits for a network where there is none, instead of failing: what `waitsForConnectivity` installs.
///
/// Only failures after which the server surely saw nothing are waited out, so that any method may be tried again. All
/// waits of a call share one allowance; when it is used up the failure stands.
struct ConnectivityWait: Sendable {
  let reachability: any Reachability
  let allowance: ConnectivityAllowance
  let clock: CallClock

  func send(
    _ request: HTTPRequest, _ next: (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    var failures = 0
    var last: TaskError?
    while true {
      do {
        return try await next(request)
      } catch let error as TaskError where waitsOut(error) {
        guard let origin = Origin(request.url) else { throw error }
        failures += 1
        guard try await wait(for: origin, failures) else { throw allowance.exceeded(error) }
        last = error
      } catch let error as TaskError where error.code == .bodyNotReplayable {
        guard var cause = last else { throw error }  // what keeps the request from being sent is the network
        cause.reason += "; not tried again: the request body can only be read once"
        throw cause
      }
    }
  }

  /// True for an error that another network may mend.
  func waitsOut(_ error: any Error) -> Bool {
    guard let error = error as? TaskError else { return false }
    return error.isOffline && error.isSurelyNotSent
  }

  /// True while there is time left to wait.
  var hasTime: Bool { allowance.left(at: clock.now) > .zero }

  /// Waits for another try; false when the time is over.
  private func wait(for origin: Origin, _ failures: Int) async throws -> Bool {
    let start = clock.now
    let left = allowance.begin(at: start)
    defer { allowance.end(at: clock.now) }
    guard left > .zero else { return false }
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

/// The time that a call may still wait for a network, over all of its attempts. Where several wait beside one another, it passes
/// once.
final class ConnectivityAllowance: Sendable {
  private struct State {
    var spent = Duration.zero
    var waiting = 0
    /// The moment up to which `spent` is counted, while any waits.
    var countedTo = Duration.zero

    mutating func count(to now: Duration) {
      if waiting > 0 { spent += now - countedTo }
      countedTo = now
    }
  }

  private let limit: Duration
  private let state = Lock(State())

  init(_ limit: Duration) { self.limit = limit }

  /// The time that is left.
  func left(at now: Duration) -> Duration {
    state.withLock { state in
      state.count(to: now)
      return limit - state.spent
    }
  }

  /// Begins a wait; returns the time that is left for it.
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

  /// The failure, with a word on why it is not waited out any longer.
  func exceeded(_ error: TaskError) -> TaskError {
    var error = error
    error.reason += ", also after waiting \(limit.formattedSeconds) for connectivity (connectivityTimeout)"
    return error
  }
}
