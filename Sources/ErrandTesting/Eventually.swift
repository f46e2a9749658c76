import Dispatch

/// True once `condition` is, looked at every millisecond; for what no event tells of.
///
/// The limit of five minutes ends a test that would hang, and is no part of what is tested.
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

/// Leaves the thread `times` times, each until others who were ready have had it.
///
/// A loop of `Task.yield()` keeps one of Swift's threads busy, of which there are as many as cores: what it waits for may
/// come last.
package func giveWay(_ times: Int = 1) async {
  for _ in 0..<times {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume() }
    }
  }
}
