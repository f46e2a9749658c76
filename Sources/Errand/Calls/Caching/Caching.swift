/// The cache that a call uses, and how.
struct Caching: Sendable {
  let store: any CacheStore
  let policy: CachePolicy
  let credentials: CacheCredentials

  /// The same for a call that neither reads nor stores.
  var onlyRemoving: Caching { Caching(store: RemovingStore(base: store), policy: policy, credentials: credentials) }
}

extension Surroundings {
  /// The cache of a call; nil where it has none.
  static func caching(_ plan: TaskPlan, _ snapshot: ServerSnapshot) -> Caching? {
    guard mayCache(plan, snapshot) else { return nil }
    let policy = cachePolicy(plan, snapshot)
    if let store = snapshot.configuration.cache, let credentials = snapshot.credentials {
      return Caching(store: store, policy: policy, credentials: credentials)
    }
    let credentials = CacheCredentials(snapshot.configuration.redaction)
    return Caching(store: MemoryCache(byteLimit: 0), policy: policy, credentials: credentials)
  }

  /// True where a call has a cache. One that wants nothing sent sends nothing, be there a cache or not; and a preloaded
  /// response needs none.
  static func mayCache(_ plan: TaskPlan, _ snapshot: ServerSnapshot) -> Bool {
    snapshot.credentials != nil || plan.preloaded != nil || cachePolicy(plan, snapshot).sendsNothing
  }

  private static func cachePolicy(_ plan: TaskPlan, _ snapshot: ServerSnapshot) -> CachePolicy {
    plan.cachePolicy.isInherited ? snapshot.configuration.cachePolicy : plan.cachePolicy
  }
}
