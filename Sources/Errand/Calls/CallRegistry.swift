/// The running calls and work. The manager cancels them through this registry.
package final class CallRegistry: ActivitySource {
  /// Work that makes several calls in sequence. It can also be cancelled between two calls.
  package struct Work: Sendable {
    let plan: TaskPlan
    /// Cancels the work. Returns `false` if the work has ended.
    let cancel: @Sendable () -> Bool

    package init(plan: TaskPlan, cancel: @escaping @Sendable () -> Bool) {
      self.plan = plan
      self.cancel = cancel
    }
  }

  private struct State {
    var calls: [Int: Call] = [:]
    /// The number of requests in progress.
    var exchanges = 0
    var works: [Int: Work] = [:]
    var lastWork = 0
    var watches: ActivityWatches?
  }

  private let state = Lock(State())

  func enter(_ call: Call) { state.withLock { $0.calls[call.number] = call } }

  func leave(_ call: Call) { _ = state.withLock { $0.calls.removeValue(forKey: call.number) } }

  /// Changes the number of requests in progress: those that have been sent, up to the end of the response's body.
  func addExchange(_ change: Int) {
    let isWatched = state.withLock { state in
      state.exchanges += change
      return state.watches != nil
    }
    if isWatched { notify() }
  }

  /// Registers work and returns its number, which is stored in the plans of its calls.
  package func enter(_ work: Work) -> Int {
    state.withLock { state in
      state.lastWork += 1
      state.works[state.lastWork] = work
      return state.lastWork
    }
  }

  package func leave(_ work: Int) { _ = state.withLock { $0.works.removeValue(forKey: work) } }

  /// Cancels all calls and work whose plan matches and returns how many were cancelled. Work counts once, however many
  /// calls it makes. Calls that belong to their waiters are not cancelled. Internal calls are not counted.
  @discardableResult
  func cancel(where wanted: (TaskPlan) -> Bool) -> Int {
    let (all, works) = state.withLock { (Array($0.calls.values), $0.works) }
    let calls = all.filter { $0.plan.waiters == nil && wanted($0.plan) }
    let ended = works.filter { wanted($0.value.plan) && $0.value.cancel() }
    for call in calls { call.cancel() }
    return ended.count
      + calls.count { call in !call.plan.isInternal && call.plan.transfer.map { ended[$0] == nil } ?? true }
  }

  var count: Int { state.withLock { $0.calls.count } }

  var activity: Int { state.withLock { $0.exchanges } }

  func add(_ watch: ActivityWatch) {
    state.withLock { state in
      var watches = state.watches ?? ActivityWatches()
      watches.add(watch)
      state.watches = watches
    }
  }

  private func notify() {
    let present = state.withLock { state in
      let present = state.watches?.present() ?? []
      if present.isEmpty { state.watches = nil }
      return present
    }
    for watch in present { watch.notify() }
  }
}
