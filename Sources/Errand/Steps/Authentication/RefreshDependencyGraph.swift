/// Tracks which refreshes wait for each other, to prevent deadlocks.
enum RefreshDependencyGraph {
  private struct Wait {
    let refreshes: Set<ObjectIdentifier>
    let source: ObjectIdentifier
  }

  private struct State {
    var waits: [Int: Wait] = [:]
    var last = 0
  }

  private static let state = Lock(State())

  /// Registers that this task waits for the refresh of `source`. Returns a number for ``end(_:)``, or `nil` if waiting
  /// would deadlock because this task belongs to that refresh or to a refresh that it waits for.
  static func begin(for source: any CredentialSource) -> Int? {
    let refreshes = RefreshScope.underWay
    if refreshes.isEmpty { return 0 }
    return state.withLock { state in
      let source = ObjectIdentifier(source)
      guard reached(from: source, by: state.waits).isDisjoint(with: refreshes) else { return nil }
      state.last += 1
      state.waits[state.last] = Wait(refreshes: refreshes, source: source)
      return state.last
    }
  }

  static func end(_ number: Int) {
    if number > 0 { state.withLock { $0.waits[number] = nil } }
  }

  /// Returns a source and all sources whose refreshes it waits for, directly or indirectly.
  private static func reached(from source: ObjectIdentifier, by waits: [Int: Wait]) -> Set<ObjectIdentifier> {
    var reached: Set = [source]
    var next = [source]
    while let one = next.popLast() {
      for wait in waits.values where wait.refreshes.contains(one) && reached.insert(wait.source).inserted {
        next.append(wait.source)
      }
    }
    return reached
  }
}
