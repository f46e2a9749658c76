import ErrandFoundation

/// Records which URLs were invalidated, and when. A response that was requested before an invalidation is not stored.
final class InvalidationLog: Sendable {
  private struct State {
    var count = 0
    var last: [String: Int] = [:]
    /// Invalidations before this number are no longer recorded individually.
    var floor = 0
  }

  private let state = Lock(State())
  private static let limit = 1000

  var count: Int { state.withLock { $0.count } }

  func note(_ url: String) {
    state.withLock { state in
      state.count += 1
      if state.last.count >= Self.limit { (state.last, state.floor) = ([:], state.count) }
      state.last[url] = state.count
    }
  }

  func isUnchanged(_ url: String, since count: Int) -> Bool {
    state.withLock { count >= max($0.floor, $0.last[url] ?? 0) }
  }
}
