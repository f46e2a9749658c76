/// The calls that are under way, so that they can be cancelled from outside.
final class CallDesk: ActivitySource {
  /// Work of several calls, one after the other: it is cancelled with them, also between two of them.
  struct Work: Sendable {
    let plan: TaskPlan
    /// Cancels it; true where none of its calls was under way.
    let cancel: @Sendable () -> Bool
  }

  private struct State {
    var calls: [Int: Call] = [:]
    var works: [Int: Work] = [:]
    var lastWork = 0
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

  /// Notes work of several calls; it is ended by the number that this returns.
  func enter(_ work: Work) -> Int {
    state.withLock { state in
      state.lastWork += 1
      state.works[state.lastWork] = work
      return state.lastWork
    }
  }

  /// Removes work.
  func leave(_ work: Int) { _ = state.withLock { $0.works.removeValue(forKey: work) } }

  /// Cancels the calls whose plan is `wanted`, and the work that is between two calls; returns how many there were.
  @discardableResult
  func cancel(where wanted: (TaskPlan) -> Bool) -> Int {
    let (calls, works) = state.withLock { (Array($0.calls.values), Array($0.works.values)) }
    let chosen = calls.filter { wanted($0.plan) }
    let between = works.filter { wanted($0.plan) }.count { $0.cancel() }
    for call in chosen { call.cancel() }
    return chosen.count + between
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
