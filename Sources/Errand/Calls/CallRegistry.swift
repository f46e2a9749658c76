/// The calls that are under way, so that they can be cancelled from outside.
final class CallRegistry: ActivitySource {
  /// Work of several calls, one after the other: it is cancelled with them, also between two of them.
  struct Work: Sendable {
    let plan: TaskPlan
    /// Cancels it; false where it is over.
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

  /// Notes work of several calls; returns its number, which their plans have.
  func enter(_ work: Work) -> Int {
    state.withLock { state in
      state.lastWork += 1
      state.works[state.lastWork] = work
      return state.lastWork
    }
  }

  /// Removes work.
  func leave(_ work: Int) { _ = state.withLock { $0.works.removeValue(forKey: work) } }

  /// Cancels the calls and the work whose plan is `wanted`; returns how many there were. Work is one, whatever calls it has, and calls
  /// that others make for themselves are none.
  @discardableResult
  func cancel(where wanted: (TaskPlan) -> Bool) -> Int {
    let (all, works) = state.withLock { (Array($0.calls.values), $0.works) }
    let calls = all.filter { wanted($0.plan) }
    let ended = works.filter { wanted($0.value.plan) && $0.value.cancel() }
    for call in calls { call.cancel() }
    return ended.count
      + calls.count { call in !call.plan.isInternal && call.plan.transfer.map { ended[$0] == nil } ?? true }
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
