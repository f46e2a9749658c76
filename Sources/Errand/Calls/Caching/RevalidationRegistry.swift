final class RevalidationRegistry: Sendable {
  private struct Place: Hashable {
    let server: ObjectIdentifier
    let key: CacheKey
  }

  private struct State {
    var underWay: Set<Place> = []
    var count = 0
    var ended: [Place: Int] = [:]
  }

  /// The maximum number of keys in `ended`.
  private static let room = 1000

  private let state = Lock(State())

  var count: Int { state.withLock { $0.count } }

  /// Begins a validation. Returns `false` if one is in progress, or has ended since the lookup. `count` is the number
  /// of validations that had ended at the time of the lookup.
  func begin(_ key: CacheKey, of server: Server, since count: Int) -> Bool {
    let place = Place(server: ObjectIdentifier(server), key: key)
    return state.withLock { state in
      guard state.ended[place] ?? 0 <= count else { return false }
      return state.underWay.insert(place).inserted
    }
  }

  func end(_ key: CacheKey, of server: Server) {
    let place = Place(server: ObjectIdentifier(server), key: key)
    state.withLock { state in
      state.underWay.remove(place)
      state.count += 1
      if state.ended.count >= Self.room { state.ended = [:] }
      state.ended[place] = state.count
    }
  }
}

extension Call {
  /// Validates a stored response that was served stale, in a separate call. Only one validation runs at a time for each
  /// URL and credential. `count` is the number of validations that had ended at the time of the lookup.
  func validateAfterwards(_ key: CacheKey, since count: Int) {
    var plan = plan.asInternal(.validation)
    do { plan.headers = try plan.presentHeaders } catch { return }  // the plan's header fields may be stale
    plan.keep(snapshot, ownAuthentication)
    plan.cachePolicy = .validatedAfterwards
    plan.priority = .low
    plan.timeouts.call = nil
    let registry = manager.revalidations
    guard registry.begin(key, of: plan.server, since: count) else { return }
    _ = WaitNode.leaving {
      Task { [plan] in
        defer { registry.end(key, of: plan.server) }
        // Errors are ignored: the caller has its response, and observers see the events.
        _ = try? await Call.perform(plan, .discarded) { $0.response }
      }
    }
  }
}
