/// The calls that are under way, so that they can be cancelled from outside.
final class CallDesk: ActivitySource {
  private struct State {
    var calls: [Int: Call] = [:]
    /// Those who are told when their number changes; nil for most managers.
    var watches: ActivityWatches?
  }

  private let state = Lock(State())

  func enter(_ call: Call) {
    let isWatched = state.withLock { state in
      state.calls[call.number] = call
      return state.watches != nil
    }
    if isWatched { tell() }
  }

  /// Removes a call.
  func leave(_ call: Call) {
    let isWatched = state.withLock { state in
      state.calls[call.number] = nil
      return state.watches != nil
    }
    if isWatched { tell() }
  }

  /// Cancels the calls whose plan is `wanted`; returns how many there were.
  @discardableResult
  func cancel(where wanted: (TaskPlan) -> Bool) -> Int {
    let chosen = state.withLock { Array($0.calls.values) }.filter { wanted($0.plan) }
    for call in chosen { call.cancel() }
    return chosen.count
  }

  var count: Int { state.withLock { $0.calls.count } }

  func add(_ watch: ActivityWatch) {
    state.withLock { state in
      var watches = state.watches ?? ActivityWatches()
      watches.add(watch)
      state.watches = watches
    }
  }

  private func tell() {
    let present = state.withLock { state in
      let present = state.watches?.present() ?? []
      if present.isEmpty { state.watches = nil }
      return present
    }
    for watch in present { watch.tell() }
  }
}
