/// Waits for a network where there is none, in the place of failing: what `waitsForConnectivity` installs.
///
/// Only failures after which the server surely saw nothing are waited out, so that any method may be tried again. The
/// time is limited by `limit`, and by the deadline of the call, which cancels it.
struct ConnectivityWait: PerAttemptStep {
  let reachability: any Reachability
  let limit: Duration
  let clock: CallClock

  func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
    let start = clock.now
    var failures = 0
    while true {
      do {
        return try await next(request)
      } catch let error as TaskError where error.isOffline && error.isSurelyNotSent {
        guard let origin = Origin(request.url), clock.now - start < limit else { throw error }
        failures += 1
        try await reachability.waitUntilReachable(origin, failures: failures, clock: clock)
      }
    }
  }
}
