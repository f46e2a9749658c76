import Dispatch

/// Polls a condition every millisecond, for changes that are not reported by an event. Returns whether it became true.
///
/// Gives up after five minutes, to end a test that would hang. Don't use this to test for a time limit.
package func eventually(_ condition: () async throws -> Bool) async rethrows -> Bool {
  let end = ContinuousClock.now + .seconds(300)
  while try await !condition() {
    if ContinuousClock.now > end { return false }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(1)) { continuation.resume() }
    }
  }
  return true
}

/// Yields the thread `times` times, each time until other work that was ready has run.
///
/// A loop of `Task.yield()` would keep one of Swift's few threads busy, and the awaited work may run last.
package func giveWay(_ times: Int = 1) async {
  for _ in 0..<times {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume() }
    }
  }
}
