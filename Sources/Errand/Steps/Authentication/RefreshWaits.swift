/// The refreshes that wait for those of others: none waits for itself, by way of others too.
enum RefreshWaits {
  private struct Wait {
    let refreshes: Set<ObjectIdentifier>
    let source: ObjectIdentifier
  }

  private struct State {
    var waits: [Int: Wait] = [:]
    var last = 0
  }

  private static let state = Lock(State())

  /// The surrounding Swift task is about to wait for the refresh of a source. Returns the number of the wait, for ``end(_:)``; nil where
  /// that refresh waits for one that the Swift task is part of, or is it.
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

  /// It waits no longer.
  static func end(_ number: Int) {
    if number > 0 { state.withLock { $0.waits[number] = nil } }
  }

  /// A source, and all for which its refresh waits.
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
