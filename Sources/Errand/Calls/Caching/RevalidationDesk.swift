/// The validations under way.
final class RevalidationDesk: Sendable {
  private struct Place: Hashable {
    let server: ObjectIdentifier
    let key: CacheKey
  }

  private let places = Lock<Set<Place>>([])

  /// False where one is under way already.
  func begin(_ key: CacheKey, of server: Server) -> Bool {
    places.withLock { $0.insert(Place(server: ObjectIdentifier(server), key: key)).inserted }
  }

  func end(_ key: CacheKey, of server: Server) {
    places.withLock { _ = $0.remove(Place(server: ObjectIdentifier(server), key: key)) }
  }
}

extension Call {
  /// Validates a stored response that was used stale, in a call of its own: one at a time for each URL and credential.
  func validateAfterwards(_ key: CacheKey) {
    var plan = plan.unseen
    do { plan.headers = try plan.presentHeaders } catch { return }  // as those of the call itself may be by now
    plan.cachePolicy = .validated
    plan.priority = .low
    plan.timeouts.call = nil
    let desk = manager.revalidations
    guard desk.begin(key, of: plan.server) else { return }
    Attempt.besideSurrounding { [plan] in
      defer { desk.end(key, of: plan.server) }
      // The caller has a response; what fails here is in the events.
      _ = try? await Call.perform(plan, .discarded) { $0.response }
    }
  }
}
