/// The calls that are under way, so that they can be cancelled from outside.
final class CallDesk: Sendable {
  private let calls = Lock<[Int: Call]>([:])

  func enter(_ call: Call) { calls.withLock { $0[call.number] = call } }

  /// Removes a call.
  func leave(_ call: Call) { calls.withLock { $0[call.number] = nil } }

  /// Cancels the calls whose plan is `wanted`; returns how many there were.
  @discardableResult
  func cancel(where wanted: (TaskPlan) -> Bool) -> Int {
    let chosen = calls.withLock { Array($0.values) }.filter { wanted($0.plan) }
    for call in chosen { call.cancel() }
    return chosen.count
  }

  var count: Int { calls.withLock { $0.count } }
}
