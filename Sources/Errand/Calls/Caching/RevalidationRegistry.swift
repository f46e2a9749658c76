/// The validations under way.
final class RevalidationRegistry: Sendable {
  private struct Place: Hashable {
    let server: ObjectIdentifier
    let key: CacheKey
  }

  private struct State {
    var underWay: Set<Place> = []
    /// The number of those that have ended.
    var count = 0
    /// The value of `count` when the last validation of each key ended.
    var ended: [Place: Int] = [:]
  }

  /// The most whose end is remembered.
  private static let room = 1000

  private let state = Lock(State())

  /// The number of those that have ended.
  var count: Int { state.withLock { $0.count } }

  /// Begins a validation. False if one is under way, or has ended since the lookup at `count`, which is then out of date.
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
  /// Validates a stored response that was used stale, in a call of its own: one at a time for each URL and credential.
  ///
  /// - Parameters:
  ///   - key: What is stored.
  ///   - count: The number of validations that had ended as it was looked up.
  func validateAfterwards(_ key: CacheKey, since count: Int) {
    var plan = plan.asInternal
    do { plan.headers = try plan.presentHeaders } catch { return }  // as those of the call itself may be by now
    plan.cachePolicy = .validatedAfterwards
    plan.priority = .low
    plan.timeouts.call = nil
    let desk = manager.revalidations
    guard desk.begin(key, of: plan.server, since: count) else { return }
    _ = SerialQueues.leavingHeld {
      Task { [plan] in
        defer { desk.end(key, of: plan.server) }
        // The caller has a response; what fails here is in the events.
        _ = try? await Call.perform(plan, .discarded) { $0.response }
      }
    }
  }
}
