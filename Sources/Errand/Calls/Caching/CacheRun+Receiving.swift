import ErrandFoundation

extension CacheRun {
  /// Stores the response to `sent` if possible. A stream is stored as its body is read.
  func received(_ outcome: inout Outcome, to sent: HTTPRequest, at requestTime: Date) async {
    let (response, now) = (outcome.response, call.manager.dates.now)
    // Don't store the error response: it would replace the stored response that is served instead.
    if response.status.isServerFailure, let entry,
      CacheDecision.mayServe(entry.response, demand, caching.policy, now: now)
    {
      return
    }
    // Don't store a response that refuses the token: it would be served after the next sign-in.
    let isRefusal = call.refusesToken(response, to: sent)
    if response.status == .notModified || (demand.method == .head && response.status == .ok) {
      outcome.update = CacheUpdate(requestTime: requestTime, isOurs: !isRefusal && isOurs(response, sent))
    }
    if isRefusal || response.body.failure != nil { return }  // a body that failed replaces nothing
    guard caching.policy.stores, isOurs(response, sent), response.body.isWhole,
      !(response.body.source is DiscardedBody), Storing.allows(demand, response, now: now)
    else {
      return await removeReplaced(by: &outcome)
    }
    guard passesHooks(&outcome) else { return }
    let stored = Storing.stored(
      response, for: selecting, requestTime: requestTime, responseTime: now, decompresses: decompresses)
    guard let writer = try? await caching.store.store(stored, for: key) else {
      return await removeReplaced(by: &outcome)  // a failing store doesn't fail the call
    }
    outcome.isStored = true
    let replaces = replacesStored(response)
    let current = CurrentWriter(
      writer: StoreWriter(writer), store: caching.store, url: key.url, account: account,
      log: call.manager.invalidations, count: changes
    ) { [self] in
      if replaces { await removeStored() }
    }
    if let written = call.written(response.body) {
      await current.fill(from: written.reader())
    } else {
      outcome.response.body = HTTPResponseBody(CacheTee(response.body, current))
    }
  }

  /// Whether `verify` accepts a response, if its status is accepted. If it doesn't, nothing is stored. The call throws the
  /// error later, as do calls that share the response.
  private func passesHooks(_ outcome: inout Outcome) -> Bool {
    guard outcome.isAccepted, !outcome.isVerified else { return true }
    outcome.isVerified = call.isVerified(outcome.response)
    return outcome.isVerified
  }

  /// Whether a response answers the request that the cache key describes. `false` if the URL differs or the response is
  /// a redirect, because each call follows redirects by its own policy. `false` if a step or redirect changed a
  /// credential or another selecting field, because the key does not include the change. Also `false` if the request
  /// was sent without the account's credential or for another account, or if the account's tokens have been forgotten.
  private func isOurs(_ response: HTTPResponse, _ sent: HTTPRequest) -> Bool {
    let sender = call.account(of: sent)
    guard sender == account, account?.isForgotten != true else { return false }
    // The key contains the account, but an authenticator had no token, or a redirect removed it.
    if let sender, !sender.hasSigned(sent), !request.headers.contains(.authorization) { return false }
    guard response.url == request.url, !response.status.isRedirect, sent.method == request.method,
      sent.options.digest == request.options.digest || (account != nil && sent.options.hasAuthenticatedDigest),
      CacheKey.Target(sent) == CacheKey.Target(request)
    else { return false }
    var headers = sent.headers
    var named = request.options.credentialHeaders
    // The key contains the account instead of the fields set by its authenticator.
    if account != nil {
      for name in sent.options.credentialHeaders { headers.remove(name) }
    } else {
      named.formUnion(sent.options.credentialHeaders)
    }
    let credentials = caching.credentials
    guard credentials.hash(of: headers, named: named) == credentials.hash(of: request.headers, named: named) else {
      return false
    }
    // A 304 may omit the stored response's `Vary` field.
    let stored = entry?.response.headers ?? [:]
    func chosen(by headers: HTTPHeaders) -> [HTTPHeaders] {
      let headers = credentials.withoutSecrets(headers, named: named)
      return [response.headers, stored].map { StoredResponse.selecting($0, headers) }
    }
    return chosen(by: headers) == chosen(by: request.headers)
  }

  /// Removes stored responses that a new, unstored response makes outdated. An earlier attempt may have stored one.
  private func removeReplaced(by outcome: inout Outcome) async {
    guard replacesStored(outcome.response), passesHooks(&outcome) else { return }
    await removeStored()
  }

  private func replacesStored(_ response: HTTPResponse) -> Bool {
    let isAnother = response.status.kind == .success || response.status == .notFound || response.status == 410
    return isAnother && demand.method == .get && demand.range == nil && response.url == request.url
      && caching.policy.stores
  }

  private func removeStored() async {
    for entry in await caching.store.entries(for: key) where fits(entry) { await caching.store.remove(entry, for: key) }
  }

  private func fits(_ entry: CacheEntry) -> Bool { entry.response.fits(selecting, decompresses: decompresses) }

  func settle(_ result: Outcome, _ attempts: Attempts) async throws -> Outcome {
    var outcome = result
    let response = outcome.response
    if response.status == .notModified, let entry {
      if isConditional {
        guard mayUpdate(outcome), Validation.isAbout(entry.response, response.headers) else {
          response.body.cancel()
          return try await askAgain(attempts)
        }
        return try await validated(entry, by: outcome, attempts)
      }
      // The caller set the condition, so the caller gets the 304. The 304 also validates the stored response.
      if mayUpdate(outcome), Validation.isAbout(entry.response, response.headers), response.headers.contains(.eTag),
        passesHooks(&outcome)
      {
        await update(entry, to: updated(entry, by: outcome), by: response)
      }
    }
    if response.status.isServerFailure, let instead = try await serveInstead(of: response) {
      response.body.cancel()
      return instead
    }
    if demand.method == .head, response.status == .ok, mayUpdate(outcome), passesHooks(&outcome) {
      await updateAll(by: outcome)
    }
    return noted(outcome)
  }

  /// Whether a 304 or a HEAD response answers the request that the cache key describes. A step's response counts,
  /// because nothing was sent.
  private func mayUpdate(_ outcome: Outcome) -> Bool {
    outcome.response.url == request.url && outcome.update?.isOurs ?? true
  }

  /// Returns the stored response that a 304 validates, with the header fields of both responses.
  private func validated(_ entry: CacheEntry, by outcome: Outcome, _ attempts: Attempts) async throws -> Outcome {
    let response = outcome.response
    let updated = updated(entry, by: outcome)
    var status = status
    status.forwardStatus = .notModified
    status.timeLeft = updated.terms.timeLeft(at: call.manager.dates.now)
    call.trace.note(.cacheValidated)
    let answer = try await serve(entry.with(updated), status, age: nil, by: response)
    response.body.cancel()  // frees its stream, which another request may need
    if var answer {
      if passesHooks(&answer) { await update(entry, to: updated, by: response) }
      return answer
    }
    await update(entry, to: updated, by: response)
    return try await askAgain(attempts)
  }

  private func updated(_ entry: CacheEntry, by outcome: Outcome) -> StoredResponse {
    let now = call.manager.dates.now
    return Validation.updated(
      entry.response, by: outcome.response.headers, for: selecting,
      requestTime: outcome.update?.requestTime ?? now, responseTime: now)
  }

  private func update(_ entry: CacheEntry, to updated: StoredResponse, by response: HTTPResponse) async {
    // `Vary: *` never matches a request (RFC 9111 §4.1).
    if CacheControl(response.headers).contains("no-store") || updated.varying == nil {
      await caching.store.remove(entry, for: key)
    } else if caching.policy.stores, demand.mayStore {
      let kept = Validation.reusable(updated)
      try? await caching.store.update(entry, to: kept, for: key)  // if this fails, the entry keeps its age
    }
  }

  // RFC 9111 §4.3.5: update or remove all stored responses that could have been selected.
  private func updateAll(by outcome: Outcome) async {
    guard caching.policy.stores else { return }
    for entry in await caching.store.entries(for: key) where fits(entry) {
      if Validation.isAboutSame(entry.response, outcome.response.headers) {
        await update(entry, to: updated(entry, by: outcome), by: outcome.response)
      } else {
        await caching.store.remove(entry, for: key)
      }
    }
  }

  /// Returns the remote's response with a `Cache-Status` field.
  private func noted(_ outcome: Outcome) -> Outcome {
    var outcome = outcome
    var status = status
    status.isStored = outcome.isStored
    outcome.response.note(status)
    return outcome
  }
}
