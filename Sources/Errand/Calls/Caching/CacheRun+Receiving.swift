import ErrandFoundation

extension CacheRun {
  /// Looks at a response when its head has come: what may be stored is stored while its body is read.
  ///
  /// - Parameters:
  ///   - response: The response of an attempt.
  ///   - sent: The request as it was sent.
  ///   - requestTime: The moment at which it was sent.
  /// - Returns: The response to be read.
  func received(_ response: HTTPResponse, to sent: HTTPRequest, at requestTime: Date) async -> HTTPResponse {
    let now = call.manager.dates.now
    // It would take the place of the stored response that is used instead of it.
    if response.status.isServerFailure, let entry = state.withLock({ $0.entry }),
      CacheDecision.mayServe(entry.response, demand, caching.policy, now: now)
    {
      return response
    }
    // What its authenticator takes for a refusal is no answer to the request: it would be found after the next sign-in.
    let isRefusal = call.refusesToken(response, to: sent)
    noteUpdate(response, sent, requestTime, isRefusal: isRefusal)
    if isRefusal { return response }
    guard caching.policy.stores, isOurs(response, sent), Storing.allows(demand, response, now: now) else {
      await removeReplaced(by: response)
      return response
    }
    var response = response
    if Outcome(call, response).isAccepted {
      // What the hooks throw fails the call later, or each of those that share it by its own.
      guard call.isVerified(response) else { return response }
      response.isVerified = true
    }
    let stored = Storing.stored(
      response, for: selecting, requestTime: requestTime, responseTime: now, unpacks: unpacks)
    guard let writer = try? await caching.store.store(stored, for: key) else {
      await removeReplaced(by: response)
      return response  // not stored, then
    }
    response.isStored = true
    let changes = state.withLock { state in
      state.hasStored = true
      return state.changes
    }
    let current = CurrentWriter(
      writer: writer, store: caching.store, url: key.url, desk: call.manager.invalidations, count: changes)
    if let written = response.body.written {
      await current.fill(from: written.contents)
    } else {
      response.body = HTTPResponseBody(CacheTee(response.body, current))
    }
    return response
  }

  /// Notes a response that may update what is stored.
  private func noteUpdate(
    _ response: HTTPResponse, _ sent: HTTPRequest, _ requestTime: Date, isRefusal: Bool
  ) {
    guard response.status == .notModified || (demand.method == .head && response.status == .ok)
    else { return }
    let isOurs = !isRefusal && isOurs(response, sent)
    state.withLock { state in
      let before = state.update
      state.update = Update(
        requestTime: min(requestTime, before?.requestTime ?? requestTime),
        isOurs: isOurs && before?.isOurs ?? true)
    }
  }

  /// True where a response is one to the request as the cache knows it: not from another URL, not a redirect, which calls
  /// follow by their own policies, and not to a credential or another field it was chosen by that was changed on the way, which
  /// its key does not have.
  private func isOurs(_ response: HTTPResponse, _ sent: HTTPRequest) -> Bool {
    guard response.url == request.url, !response.status.isRedirect, sent.method == request.method,
      sent.options.digest == request.options.digest,
      CacheKey.Target(sent) == CacheKey.Target(request)
    else { return false }
    var headers = sent.headers
    var named = request.options.credentialHeaders
    // The key has the account in the place of what its authenticator sets.
    if account != nil {
      for name in sent.options.credentialHeaders { headers.remove(name) }
    } else {
      named.formUnion(sent.options.credentialHeaders)
    }
    let credentials = caching.credentials
    guard credentials.hash(of: headers, named: named) == credentials.hash(of: request.headers, named: named) else {
      return false
    }
    // A 304 need not say again by which fields the stored response was chosen.
    let stored = state.withLock { $0.entry?.response.headers } ?? [:]
    func chosen(by headers: HTTPHeaders) -> [HTTPHeaders] {
      let headers = credentials.withoutSecrets(headers, named: named)
      return [response.headers, stored].map { StoredResponse.selecting($0, headers) }
    }
    return chosen(by: headers) == chosen(by: request.headers)
  }

  /// Removes the stored response where the remote has another one, which is not stored: what was found, and what an attempt
  /// before has stored.
  private func removeReplaced(by response: HTTPResponse) async {
    let isAnother = response.status.kind == .success || response.status == .notFound || response.status == 410
    guard isAnother, demand.method == .get, demand.range == nil, response.url == request.url, caching.policy.stores
    else { return }
    let (found, hasStored) = state.withLock { ($0.entry, $0.hasStored) }
    if let found { await caching.store.remove(found, for: key) }
    guard hasStored else { return }
    for entry in await caching.store.entries(for: key) where fits(entry) { await caching.store.remove(entry, for: key) }
  }

  /// True for a stored response that could be chosen for the request.
  private func fits(_ entry: CacheEntry) -> Bool { entry.response.fits(selecting, unpacks: unpacks) }

  /// Makes the outcome of the call of the outcome of its attempts.
  func settle(_ outcome: Outcome, _ attempts: Attempts) async throws -> Outcome {
    let response = outcome.response
    let (entry, isConditional) = state.withLock { ($0.entry, $0.isConditional) }
    if response.status == .notModified, let entry {
      if isConditional {
        guard mayUpdate(response), Validation.isAbout(entry.response, response.headers) else {
          response.body.cancel()
          return try await askAgain(attempts)
        }
        return try await validated(entry, by: outcome, attempts)
      }
      // The caller's own condition: the 304 is for the caller, and says the same of what is stored.
      if mayUpdate(response), Validation.isAbout(entry.response, response.headers),
        response.headers.contains(.eTag)
      {
        _ = await update(entry, by: response)
      }
    }
    if response.status.isServerFailure, let instead = try await serveInstead(of: response) {
      response.body.cancel()
      return instead
    }
    if demand.method == .head, response.status == .ok, mayUpdate(response) {
      await updateAll(by: response)
    }
    return noted(outcome)
  }

  /// True where a 304, or the response to HEAD, is one to the request as the cache knows it; that of a step, which has sent
  /// nothing, counts as such.
  private func mayUpdate(_ response: HTTPResponse) -> Bool {
    response.url == request.url && state.withLock { $0.update?.isOurs ?? true }
  }

  /// The stored response that a 304 is about, with the header of both.
  private func validated(_ entry: CacheEntry, by outcome: Outcome, _ attempts: Attempts) async throws -> Outcome {
    let response = outcome.response
    let updated = await update(entry, by: response)
    var status = state.withLock { $0.status }
    status.forwardStatus = .notModified
    status.timeLeft = updated.response.terms.timeLeft(at: call.manager.dates.now)
    call.trace.note(.cacheValidated)
    let answer = try await serve(updated, status, age: nil, by: response)
    response.body.cancel()  // it holds its stream, which another request may need
    if let answer { return answer }
    return try await askAgain(attempts)
  }

  /// Updates a stored response by the header of a 304 or of a response to HEAD.
  private func update(_ entry: CacheEntry, by response: HTTPResponse) async -> CacheEntry {
    let now = call.manager.dates.now
    let updated = Validation.updated(
      entry.response, by: response.headers, for: selecting,
      requestTime: state.withLock { $0.update?.requestTime } ?? now, responseTime: now)
    // One that is chosen by anything fits no request any more (RFC 9111 §4.1).
    if CacheControl(response.headers).contains("no-store") || updated.varying == nil {
      await caching.store.remove(entry, for: key)
    } else if caching.policy.stores, demand.mayStore {
      let kept = Validation.reusable(updated)
      try? await caching.store.update(entry, to: kept, for: key)  // it then stays as old as it was
    }
    return entry.with(updated)
  }

  // RFC 9111 §4.3.5: all stored responses that could have been chosen are updated, or removed.
  private func updateAll(by response: HTTPResponse) async {
    guard caching.policy.stores else { return }
    for entry in await caching.store.entries(for: key) where fits(entry) {
      if Validation.isAboutSame(entry.response, response.headers) {
        _ = await update(entry, by: response)
      } else {
        await caching.store.remove(entry, for: key)
      }
    }
  }

  /// The remote's own response, with the word of the cache.
  private func noted(_ outcome: Outcome) -> Outcome {
    var outcome = outcome
    var status = state.withLock { $0.status }
    status.isStored = outcome.response.isStored
    outcome.response.headers.add(status.description, for: .cacheStatus)
    if outcome.response.isVerified { outcome.isVerified = true }
    return outcome
  }
}
