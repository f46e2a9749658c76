import Dispatch

/// Returns whether `condition` becomes `true` in time, checking it repeatedly. Use this if no event reports the change.
///
/// - Parameters:
///   - limit: The time after which it gives up, so that a test fails instead of hanging. Defaults to 10 s. Pass more to
///     wait for another process.
///   - condition: The condition to wait for.
package func eventually(
  within limit: Duration = .seconds(10), _ condition: () async throws -> Bool
) async rethrows -> Bool {
  let end = ContinuousClock.now + limit
  var checks = 0
  while try await !condition() {
    checks += 1
    // Check at least a hundred times, because the limit may have passed before other work could run.
    if ContinuousClock.now > end, checks > 100 { return false }
    // Check less often if it takes long, because many tests wait concurrently.
    let pause = DispatchTimeInterval.milliseconds(checks < 50 ? 1 : 10)
    await withCheckedContinuation { continuation in
      DispatchQueue.global().asyncAfter(deadline: .now() + pause) { continuation.resume() }
    }
  }
  return true
}

/// Yields the thread `times` times. Each time, other work that is ready runs first.
///
/// A loop of `Task.yield()` would keep one of Swift's few threads busy, so the awaited work might run last.
package func giveWay(_ times: Int = 1) async {
  for _ in 0..<times {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume() }
    }
  }
}
