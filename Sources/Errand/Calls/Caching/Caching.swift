struct Caching: Sendable {
  let store: any CacheStore
  let policy: CachePolicy
  let credentials: CacheCredentials

  /// A copy for a call that doesn't read or store responses but removes stale ones.
  var onlyRemoving: Caching { Caching(store: RemovingStore(base: store), policy: policy, credentials: credentials) }
}

extension Caching {
  static func of(_ plan: TaskPlan, _ snapshot: ServerSnapshot) -> Caching? {
    let policy = cachePolicy(plan, snapshot)
    if let store = snapshot.configuration.cache, let credentials = snapshot.credentials {
      return Caching(store: store, policy: policy, credentials: credentials)
    }
    if plan.preloaded != nil || policy.sendsNothing {
      // No store is needed: a preloaded response comes from its file, and a cache-only call finds nothing.
      let credentials = CacheCredentials(snapshot.configuration.redaction)
      return Caching(store: MemoryCache(byteLimit: 0), policy: policy, credentials: credentials)
    }
    return nil
  }

  private static func cachePolicy(_ plan: TaskPlan, _ snapshot: ServerSnapshot) -> CachePolicy {
    plan.cachePolicy.isInherited ? snapshot.configuration.cachePolicy : plan.cachePolicy
  }
}
