import ErrandFoundation

/// How the cache handles a request, before anything is sent.
enum CacheDecision: Equatable {
  case serve(CacheUse)
  /// Send the request, as a conditional request if `validates` is `true`.
  case ask(CacheStatus.Forward, validates: Bool)
  /// Fail, because nothing can be sent and no suitable response is stored.
  case refuse
}

struct CacheUse: Equatable {
  let timeLeft: Duration
  /// Whether to validate the response after returning it to the caller.
  var validatesAfterwards = false
}

extension CacheDecision {
  /// Decides how to handle a request. `hasOthers` is `true` if responses to the same URL are stored, but none of them
  /// match.
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
      // RFC 8246 §2: don't send a conditional request while an immutable response is fresh.
      return .serve(CacheUse(timeLeft: timeLeft))
    case .validated, .networkFirst:
      return isSilent ? .refuse : .ask(timeLeft > .zero ? .request : .stale, validates: true)
    case .standard, .inherited, .none: return bySelf(demand, stored.terms, timeLeft, now, isSilent, policy.stores)
    }
  }

  // The standard decision (RFC 9111 §4).
  private static func bySelf(
    _ demand: CacheDemand, _ terms: CacheTerms, _ timeLeft: Duration, _ now: Date, _ isSilent: Bool, _ stores: Bool
  ) -> CacheDecision {
    // RFC 8246 §2: a fresh immutable response is not validated on a reload.
    let isTooOld =
      demand.maxAge.map { terms.age(at: now) > $0 && !(terms.isImmutable && timeLeft > .zero) } ?? false
    let isRefused = demand.mustValidate || terms.mustValidate || isTooOld
    if !isRefused, timeLeft > .zero, timeLeft >= demand.minFresh { return .serve(CacheUse(timeLeft: timeLeft)) }
    let staleness = .zero - timeLeft
    if !isRefused, !terms.mustValidateWhenStale, demand.minFresh == .zero {
      // RFC 9111 §5.2.1.2 and RFC 5861 §3.
      if let limit = demand.maxStale, staleness <= limit { return .serve(CacheUse(timeLeft: timeLeft)) }
      // Serve a stale response only if the validated response will be stored. Otherwise, the stored one would stay
      // stale.
      if stores, let limit = terms.staleWhileValidating, staleness <= limit {
        return .serve(CacheUse(timeLeft: timeLeft, validatesAfterwards: !isSilent))
      }
    }
    return isSilent ? .refuse : .ask(timeLeft > .zero ? .request : .stale, validates: true)
  }

  /// Whether a stored response can be served when the request fails.
  static func mayServe(_ stored: StoredResponse, _ demand: CacheDemand, _ policy: CachePolicy, now: Date) -> Bool {
    guard demand.isCacheable, !demand.isForServer, demand.canBeAnswered(by: stored) else { return false }
    if case .networkFirst = policy.mode { return true }
    guard policy.mode == .standard || policy.mode == .inherited || policy.mode == .validated else { return false }
    // RFC 9111 §4.2.4: don't use a stale response if an explicit directive forbids it.
    let terms = stored.terms
    guard !terms.mustValidate, !terms.mustValidateWhenStale, !demand.mustValidate else { return false }
    guard let limit = [terms.staleIfError, demand.staleIfError].compactMap({ $0 }).max() else { return false }
    return .zero - terms.timeLeft(at: now) <= limit
  }
}

extension CacheDemand {
  /// Whether a stored response contains the requested range. This requires a complete body without `Content-Encoding`.
  func canBeAnswered(by stored: StoredResponse) -> Bool {
    guard range != nil else { return true }
    return stored.status == .ok && !stored.headers.isCompressed
  }

  /// Whether the caller's own copy is as current as the stored response (RFC 9111 §4.3.2).
  func isSatisfied(by stored: StoredResponse) -> Bool {
    guard stored.status == .ok else { return false }
    if let ifNoneMatch { return ifNoneMatch.names(stored.eTag) }
    guard let ifModifiedSince else { return false }
    // RFC 9111 §4.3.2: without Last-Modified, use Date or the time of receipt.
    let modified =
      stored.headers.firstDate(.lastModified, now: stored.responseTime)
      ?? stored.headers.firstDate(.date, now: stored.responseTime) ?? stored.responseTime
    return modified <= ifModifiedSince
  }
}

extension HTTPStatus {
  /// Whether the status means that the server failed (RFC 5861 §4).
  var isServerFailure: Bool { code == 500 || code == 502 || code == 503 || code == 504 }
}
