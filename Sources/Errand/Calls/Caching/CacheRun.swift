import ErrandFoundation

/// A call's use of the cache: looks up stored responses and stores new ones. Immutable: forwarding a request to the
/// remote creates a copy with the reason.
final class CacheRun: Sendable {
  /// Makes the attempts of a request. `nil` if the responses don't pass through a cache.
  typealias Attempts = @Sendable (HTTPRequest, CacheRun?) async throws -> Outcome

  /// Why and how the request is forwarded to the remote.
  struct Asking {
    var reason: CacheStatus.Forward
    /// The stored response found by the lookup but not served directly.
    var entry: CacheEntry?
    var isConditional: Bool
    /// The number of invalidations when the request was sent.
    var changes: Int
  }

  let call: Call
  let caching: Caching
  let request: HTTPRequest
  let key: CacheKey
  /// The account that will authenticate the request, based on the request after the per-call steps have run.
  let account: RequestAccount?
  let demand: CacheDemand
  /// `nil` before the request is forwarded.
  private let asking: Asking?

  init(_ call: Call, _ caching: Caching, _ request: HTTPRequest) {
    self.call = call
    self.caching = caching
    self.request = request
    asking = nil
    demand = CacheDemand(request, now: call.manager.dates.now)
    account = call.account(of: request)
    key = CacheKey(
      url: CacheKey.text(of: request.url.absoluteString),
      credential: caching.credentials.hash(
        of: request.headers, named: request.options.credentialHeaders, account: account?.name,
        digest: request.options.digest, target: CacheKey.Target(request)))
  }

  private init(_ run: CacheRun, _ asking: Asking) {
    (call, caching, request, key, account, demand) = (
      run.call, run.caching, run.request, run.key, run.account, run.demand
    )
    self.asking = asking
  }

  /// The stored response found by the lookup but not served directly.
  var entry: CacheEntry? { asking?.entry }
  var isConditional: Bool { asking?.isConditional ?? false }
  /// The number of invalidations when the request was sent.
  var changes: Int { asking?.changes ?? 0 }
  var status: CacheStatus {
    var status = CacheStatus()
    status.forward = asking?.reason
    return status
  }

  /// The header fields that select a stored response.
  var selecting: HTTPHeaders {
    caching.credentials.withoutSecrets(request.headers, named: request.options.credentialHeaders)
  }

  /// Whether the caller gets decompressed bodies.
  var decompresses: Bool { request.options.decodesBody && !request.headers.contains(.acceptEncoding) }

  func answer(_ attempts: @escaping Attempts) async throws -> Outcome {
    let readsNothing = !demand.isCacheable || caching.policy.mode == .none
    let validations = call.manager.revalidations.count
    let stored = readsNothing ? [] : await caching.store.entries(for: key)
    // A response of another version may be older than the call's file.
    let version = call.fileVersion(for: request)
    let entries = version.map { version in stored.filter { version.isVersion(in: $0.response.headers) } } ?? stored
    let entry = choose(among: entries) ?? (version == nil ? preloaded : nil)
    let now = call.manager.dates.now
    let decision = CacheDecision.on(
      demand, caching.policy, stored: entry?.response, hasOthers: !entries.isEmpty, now: now)
    switch decision {
    case .serve(let use):
      guard let entry else { break }
      let status = CacheStatus(timeLeft: use.timeLeft)
      if let outcome = try await serve(entry, status, age: entry.response.age(at: now)) {
        if use.validatesAfterwards { call.validateAfterwards(key, since: validations) }
        return outcome
      }
    case .refuse: throw notCached(hasEntry: entry != nil || !stored.isEmpty)
    case .ask(let reason, let validates):
      return try await ask(reason, entry, validates: validates, attempts)
    }
    // The stored response has been removed, lacks the requested part or is of another version: forward the request.
    if case .refuse = CacheDecision.on(demand, caching.policy, stored: nil, hasOthers: false, now: now) {
      throw notCached(hasEntry: true)
    }
    return try await ask(demand.range == nil ? .uriMiss : .partial, nil, validates: false, attempts)
  }

  private var preloaded: CacheEntry? {
    guard demand.isCacheable, caching.policy.mode != .none, let file = call.plan.preloaded else { return nil }
    return CacheEntry.preloaded(file)
  }

  // RFC 9111 §4.1: use the most recent of several matching responses.
  private func choose(among entries: [CacheEntry]) -> CacheEntry? {
    let selecting = entries.contains { $0.response.varying?.isEmpty == false } ? selecting : [:]
    var best: CacheEntry?
    for entry in entries where entry.response.fits(selecting, decompresses: decompresses) {
      if let best, best.response.responseTime > entry.response.responseTime { continue }
      best = entry
    }
    return best
  }

  // MARK: Answering from the cache

  /// Returns the outcome for a stored response, or `nil` if the response has been removed or lacks the requested part.
  /// `age` is `nil` if the response has just been validated, by `carrier`.
  func serve(
    _ entry: CacheEntry, _ status: CacheStatus, age: Duration?, by carrier: HTTPResponse? = nil
  ) async throws -> Outcome? {
    // The file may have been downloaded since the lookup.
    if let version = call.fileVersion(for: request), !version.isVersion(in: entry.response.headers) { return nil }
    guard var answer = StoredAnswer(entry, demand) else { return nil }
    answer.note(age: age)
    var response = HTTPResponse(
      answer.status, url: request.url, headers: answer.headers, version: carrier?.version,
      isConnectionReused: carrier?.isConnectionReused ?? false)
    response.note(status, storedAt: carrier == nil ? entry.response.responseTime : nil)
    var content = Outcome.Content.memory(Data())
    switch call.destination {
    case .discarded where (answer.range?.count ?? 0) > call.keptSize:
      let size = answer.range?.count ?? 0
      response.body = DiscardedBody(size: size, kept: nil, shown: nil, of: response.body).body
      content = .discarded(size: size, shown: nil)
    case .memory, .discarded:
      guard let bytes = try await bytes(of: entry, answer.range) else { return nil }
      content = .memory(bytes)
      response.body = HTTPResponseBody(bytes)
    case .file, .stream:
      guard let range = answer.range else { break }
      guard let body = try? entry.open(range) else { return nil }  // just removed: forward the request
      content = .unread
      response.body = body
    }
    if carrier == nil { call.noteStored(request, status) }
    response.checkMatch(with: request)
    return Outcome(call, response, content)
  }

  private func bytes(of entry: CacheEntry, _ range: Range<Int>?) async throws -> Data? {
    guard let range else { return Data() }
    let limit = call.snapshot.configuration.maximumBodySize
    if case .bytes(let data) = entry.body, range.count == data.count, data.count <= limit { return data }
    guard let body = try? entry.open(range) else { return nil }  // just removed: forward the request
    return try await call.gather(body)
  }

  private func notCached(hasEntry: Bool) -> TaskError {
    let why = hasEntry ? "the stored response can't be used for this request" : "no response is stored for this request"
    var error = TaskError(
      .notCached, "\(why), and the cache policy does not allow sending the request: use a different cache policy",
      phase: .preparing,
      wasNotSent: true)
    error.status = .gatewayTimeout  // RFC 9111 §5.2.1.7
    return error
  }

  // MARK: Asking the remote

  private func ask(
    _ reason: CacheStatus.Forward, _ entry: CacheEntry?, validates: Bool, _ attempts: @escaping Attempts
  ) async throws -> Outcome {
    call.trace.note(.cacheMissed(reason))
    // If the 304 doesn't match the stored response, the request must be sent a second time.
    let isConditional =
      validates && !demand.isConditional && call.plan.idempotency != .neverRepeat
      && entry?.response.hasValidator ?? false
    let run = CacheRun(
      self,
      Asking(reason: reason, entry: entry, isConditional: isConditional, changes: call.manager.invalidations.count))
    var request = request
    if isConditional, let entry { request.headers = Validation.conditions(request.headers, for: entry.response) }
    keepSharedCachesOut(of: &request)
    let validations = call.manager.revalidations.count
    do {
      let outcome = try await limited(entry) { [request] in try await attempts(request, run) }
      return try await run.settle(outcome, attempts)
    } catch let error as TaskError where error.isFailureOfRemote {
      guard let outcome = try await run.serveInstead(of: nil) else { throw error }
      // Otherwise, a server that is always slower than the policy's limit would never update the stored response.
      if error.isTimeout, call.methodSentOnce == nil, case .networkFirst = caching.policy.mode {
        call.validateAfterwards(key, since: validations)
      }
      return outcome
    }
  }

  /// Adds header fields that ask intermediate caches not to answer the request either (RFC 9111 §5.2.1.1 and §5.2.1.4),
  /// as in the Fetch standard.
  private func keepSharedCachesOut(of request: inout HTTPRequest) {
    switch caching.policy.mode {
    case .reload:
      request.headers.setDefault("no-cache", for: .cacheControl)
      request.headers.setDefault("no-cache", for: .pragma)
    case .validated where !caching.policy.isAfterwards: request.headers.setDefault("max-age=0", for: .cacheControl)
    default: break
    }
  }

  /// Runs the attempts within the policy's limit if there is a stored response to fall back on.
  private func limited(
    _ entry: CacheEntry?, _ attempts: @escaping @Sendable () async throws -> Outcome
  ) async throws -> Outcome {
    guard case .networkFirst(let limit) = caching.policy.mode, let limit = limit.orNil, let entry,
      CacheDecision.mayServe(entry.response, demand, caching.policy, now: call.manager.dates.now)
    else {
      return try await attempts()
    }
    return try await call.manager.clock.limiting(limit, .attempt, phase: .awaitingResponse, attempts)
  }

  /// Returns the outcome for the stored response that is used instead of a failure, or `nil` if it must not be used.
  func serveInstead(of response: HTTPResponse?) async throws -> Outcome? {
    let now = call.manager.dates.now
    guard let entry,
      CacheDecision.mayServe(entry.response, demand, caching.policy, now: now)
    else { return nil }
    var status = status
    status.forwardStatus = response?.status
    status.timeLeft = entry.response.terms.timeLeft(at: now)
    status.detail = "stale-if-error"
    return try await serve(entry, status, age: entry.response.age(at: now))
  }

  /// Resends the request without a condition, because the 304 did not match the stored response.
  func askAgain(_ attempts: Attempts) async throws -> Outcome {
    if let method = call.methodSentOnce {
      throw TaskError(
        .badResponse,
        "the 304 Not Modified does not match the stored response, and the request was not resent: \(Call.onceOnly(method))",
        phase: .receiving)
    }
    let run =
      asking.map { CacheRun(self, Asking(reason: $0.reason, isConditional: false, changes: $0.changes)) } ?? self
    return try await run.settle(try await attempts(request, run), attempts)
  }
}

extension TaskError {
  /// Whether the remote could not be reached or did not answer properly, so a stored response may be used instead.
  /// Excludes errors that may come from an intermediary.
  var isFailureOfRemote: Bool {
    switch code {
    case .cannotResolveHost, .cannotConnect, .offline, .connectionLost, .badResponse, .truncatedBody, .circuitOpen,
      .secureConnectionFailed:
      true
    case .timedOut: timer != .call && timer != .queue
    default: false
    }
  }
}
