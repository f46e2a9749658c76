import ErrandFoundation

/// The decision on a request, before anything is sent.
enum CacheDecision: Equatable {
  /// The stored response answers it.
  case serve(CacheUse)
  /// The remote answers it; on the condition that the stored response is no longer good where `validates` says so.
  case ask(CacheStatus.Forward, validates: Bool)
  /// Nothing may be sent, and nothing that will do is stored.
  case refuse
}

/// The way in which a stored response is used.
struct CacheUse: Equatable {
  /// The time for which it is still fresh; below zero, that for which it has been stale.
  let timeLeft: Duration
  /// True where it is validated once the caller has it.
  var validatesAfterwards = false
}

extension CacheDecision {
  /// Decides on a request by a policy.
  ///
  /// - Parameters:
  ///   - stored: The stored response that fits the request; nil where there is none.
  ///   - hasOthers: True where responses to the same URL are stored that do not fit.
  static func on(
    _ demand: CacheDemand, _ policy: CachePolicy, stored: StoredResponse?, hasOthers: Bool, now: Date
  ) -> CacheDecision {
    guard demand.isCacheable else { return policy.mode == .cacheOnly ? .refuse : .ask(.method, validates: false) }
    if policy.mode == .none { return .ask(.bypass, validates: false) }
    let isSilent = policy.mode == .cacheOnly || demand.onlyIfCached
    guard !demand.isForServer, let stored, demand.canBeAnswered(by: stored) else {
      let why: CacheStatus.Forward =
        demand.isForServer ? .bypass : stored != nil ? .partial : hasOthers ? .varyMiss : .uriMiss
      return isSilent ? .refuse : .ask(why, validates: false)
    }
    let timeLeft = stored.terms.timeLeft(at: now)
    switch policy.mode {
    case .cacheOnly, .cacheFirst: return .serve(CacheUse(timeLeft: timeLeft))
    case .reload: return isSilent ? .refuse : .ask(.request, validates: false)
    case .validated where stored.terms.isImmutable && timeLeft > .zero:
      // RFC 8246 §2: no conditional request while such a response is fresh.
      return .serve(CacheUse(timeLeft: timeLeft))
    case .validated, .networkFirst:
      return isSilent ? .refuse : .ask(timeLeft > .zero ? .request : .stale, validates: true)
    case .standard, .inherited, .none: return bySelf(demand, stored.terms, timeLeft, now, isSilent, policy.stores)
    }
  }

  // RFC 9111 §4: the rules of the protocol alone.
  private static func bySelf(
    _ demand: CacheDemand, _ terms: CacheTerms, _ timeLeft: Duration, _ now: Date, _ isSilent: Bool, _ stores: Bool
  ) -> CacheDecision {
    // RFC 8246 §2: a fresh response that does not change is not validated for a reload.
    let isTooOld =
      demand.maxAge.map { terms.age(at: now) > $0 && !(terms.isImmutable && timeLeft > .zero) } ?? false
    let isRefused = demand.mustValidate || terms.mustValidate || isTooOld
    if !isRefused, timeLeft > .zero, timeLeft >= demand.minFresh { return .serve(CacheUse(timeLeft: timeLeft)) }
    let staleness = .zero - timeLeft
    if !isRefused, !terms.mustValidateWhenStale, demand.minFresh == .zero {
      // RFC 9111 §5.2.1.2 and RFC 5861 §3.
      if let limit = demand.maxStale, staleness <= limit { return .serve(CacheUse(timeLeft: timeLeft)) }
      // Where nothing is stored, no validation would make it fresh.
      if stores, let limit = terms.staleWhileValidating, staleness <= limit {
        return .serve(CacheUse(timeLeft: timeLeft, validatesAfterwards: !isSilent))
      }
    }
    return isSilent ? .refuse : .ask(timeLeft > .zero ? .request : .stale, validates: true)
  }

  /// True where a stored response may answer a request that failed at its server.
  static func mayServe(_ stored: StoredResponse, _ demand: CacheDemand, _ policy: CachePolicy, now: Date) -> Bool {
    guard demand.isCacheable, !demand.isForServer, demand.canBeAnswered(by: stored) else { return false }
    if case .networkFirst = policy.mode { return true }
    guard policy.mode == .standard || policy.mode == .inherited || policy.mode == .validated else { return false }
    // RFC 9111 §4.2.4: never a stale one that an explicit directive forbids.
    let terms = stored.terms
    guard !terms.mustValidate, !terms.mustValidateWhenStale, !demand.mustValidate else { return false }
    guard let limit = [terms.staleIfError, demand.staleIfError].compactMap({ $0 }).max() else { return false }
    return .zero - terms.timeLeft(at: now) <= limit
  }
}

extension CacheDemand {
  /// True where a stored response has the requested part, which comes only of a whole body as it was over the wire.
  func canBeAnswered(by stored: StoredResponse) -> Bool {
    guard range != nil else { return true }
    return stored.status == .ok && !stored.headers.isCompressed
  }

  /// True where the caller's own copy is as good as the stored response (RFC 9111 §4.3.2).
  func isSatisfied(by stored: StoredResponse) -> Bool {
    guard stored.status == .ok else { return false }
    if let ifNoneMatch { return ifNoneMatch.names(stored.eTag) }
    guard let ifModifiedSince else { return false }
    // RFC 9111 §4.3.2: without Last-Modified, the Date counts, and without that the time at which it came.
    let modified =
      stored.headers.firstDate(.lastModified, now: stored.responseTime)
      ?? stored.headers.firstDate(.date, now: stored.responseTime) ?? stored.responseTime
    return modified <= ifModifiedSince
  }
}

extension HTTPStatus {
  /// True for a status that says of its server that it failed (RFC 5861 §4).
  var isServerFailure: Bool { code == 500 || code == 502 || code == 503 || code == 504 }
}
