/// Tracks which refreshes wait for each other, to prevent deadlocks.
enum RefreshDependencyGraph {
  private struct Wait {
    let refreshes: Set<ObjectIdentifier>
    let owner: ObjectIdentifier
  }

  private struct State {
    var waits: [Int: Wait] = [:]
    var last = 0
  }

  private static let state = Lock(State())

  /// Registers that this task waits for a refresh of `owner`. Returns a number for ``end(_:)``, or `nil` if waiting
  /// would deadlock because this task belongs to that refresh or to a refresh that it waits for.
  static func begin(for owner: TokenOwner) -> Int? {
    let refreshes = RefreshScope.underWay
    if refreshes.isEmpty { return 0 }
    return state.withLock { state in
      let owner = ObjectIdentifier(owner)
      guard reached(from: owner, by: state.waits).isDisjoint(with: refreshes) else { return nil }
      state.last += 1
      state.waits[state.last] = Wait(refreshes: refreshes, owner: owner)
      return state.last
    }
  }

  static func end(_ number: Int) {
    if number > 0 { state.withLock { $0.waits[number] = nil } }
  }

  /// Returns an owner and all owners whose refreshes it waits for, directly or indirectly.
  private static func reached(from owner: ObjectIdentifier, by waits: [Int: Wait]) -> Set<ObjectIdentifier> {
    var reached: Set = [owner]
    var next = [owner]
    while let one = next.popLast() {
      for wait in waits.values where wait.refreshes.contains(one) && reached.insert(wait.owner).inserted {
        next.append(wait.owner)
      }
    }
    return reached
  }
}
