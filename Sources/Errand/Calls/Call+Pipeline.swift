extension Call {
  /// Runs a call from its plan to its result. The numbers in the comments match those in the guide "How a task
  /// travels".
  @concurrent static func perform<Value: Sendable>(
    _ plan: consuming TaskPlan, _ destination: BodyDestination,
    finish: @escaping @Sendable (Outcome) async throws -> Value
  ) async throws -> Value {
    let call = Call(plan, destination)
    return try await call.perform(finish: finish)
  }

  /// Runs the call and returns its result.
  package func perform<Value: Sendable>(
    finish: @escaping @Sendable (Outcome) async throws -> Value
  ) async throws -> Value {
    try await run { call in  // in the call's Swift task; afterwards: 10. events, recording, `didComplete` or `didFail`
      call.keepAwake()  // 1. background activity
      return try await call.inQueue {  // 2. serial queue, `willStart`, pause
        let request = try await call.build()  // 3. URL, query, headers, body; 4. preflight
        call.noteBuilt(request)
        if call.callsHooks { await call.plan.task.didStart(request) }
        let outcome = try await call.answer(to: request)  // 5.–8.
        return try await call.conclude(outcome, finish: finish)  // 9. status, hooks, decoding
      }
    }
  }

  /// 5. Runs the per-call features (steps, coalescing, cache) around the attempts.
  private func answer(to request: HTTPRequest) async throws -> Outcome {
    try await throughSteps(snapshot.configuration.perCallSteps, request) { changed in
      // A shared request runs the cache and the attempts in an internal call.
      try await self.coalesced(changed) { alone in
        try await self.throughCache(self.selectingFile(alone)) { asked, run in
          try await self.attempts(asked, run) { try await self.rebuild(asked, built: request) }
        }
      }
    }
  }

  /// 6. Makes attempts until one succeeds, or the policy, the deadline or the retry budget prevents another one.
  /// `rebuild` returns the request of the next attempt.
  func attempts(
    _ first: HTTPRequest, _ run: CacheRun?, rebuild: () async throws -> HTTPRequest
  ) async throws -> Outcome {
    var request = first
    var payment: RetryPayment?  // for the next attempt; refunded if nothing is sent
    while true {
      let attempt = Attempt(of: self)
      let result = await make(attempt, request, run)
      if let paid = payment, !attempt.sent.isNothing {
        paid.use()
        payment = nil
      }
      let sent = attempt.sent(with: result)
      state.withLock { $0.sent.add(sent) }
      if let error = retryableError(of: result),
        try await waitsForRetry(after: error, result, of: attempt, request, &payment)
      {
        request = try await rebuild()
        continue
      }
      return try result.mapError(judged).get()
    }
  }

  /// Waits for the retry delay. Returns `false` if the failure is not retried.
  @inline(never)  // inlining the failure path would double every call's stack
  private func waitsForRetry(
    after error: TaskError, _ result: AttemptResult, of attempt: Attempt, _ request: HTTPRequest,
    _ payment: inout RetryPayment?
  ) async throws -> Bool {
    guard let delay = try await retryDelay(after: error, result, of: attempt, request, &payment) else { return false }
    result.discard()  // before the delay, which may be long
    try await wait(delay, after: error)
    return true
  }

  /// Builds the request again, so that nothing stale is sent, and keeps the changes made by per-call steps. Keeps the
  /// `Idempotency-Key` too, because the retry is allowed only with the same key.
  private func rebuild(_ first: HTTPRequest, built: HTTPRequest) async throws -> HTTPRequest {
    var request = try await build(again: true).applying(changesFrom: built, to: first)
    if let key = first.headers[.idempotencyKey] { request.headers[.idempotencyKey] = key }
    return request
  }

  /// 7. Makes one attempt. Each feature wraps the next, outermost first.
  func make(_ attempt: Attempt, _ request: HTTPRequest, _ run: CacheRun?) async -> AttemptResult {
    do {
      let response = try await throughSteps(request) { request in
        try await self.authenticated(self.withFileConditions(request), of: attempt) { request in
          try await self.resendingOnceOnline(request) { request in
            try await self.followingRedirects(request, of: attempt) { request in
              try await self.answeringDigest(request, of: attempt) { request, digest in
                guard digest == nil, self.mayHedge(request) else {
                  return try await attempt.exchange(request, digest)  // 8. circuit, slot, transport, body
                }
                return try await self.hedged(request, of: attempt)
              }
            }
          }
        }
      }
      var outcome = Outcome(self, response)
      outcome.isVerified = !hasAttemptSteps && written(response.body) != nil  // verified before it was written
      if sharesResponses { await store(&outcome, run, of: attempt) }
      return await attempt.received(outcome)
    } catch {
      return attempt.failed(error)
    }
  }
}

// MARK: Steps, queue, pause

extension Call {
  /// Runs `willStart` and `body` with exclusive access to the call's serial queue, and `body` after any pause has ended. No
  /// app code runs while the call is in line.
  private func inQueue<Value>(_ body: () async throws -> Value) async throws -> Value {
    try await manager.serialQueues.withExclusiveAccess(plan.serialQueue, from: plan.place) { isOver, queue in
      trace.note(isOver ? .turnWaitEnded : .turnWaitStarted(queue: queue))
    } body: {
      try await begin()
      try await waitWhilePaused()
      return try await body()
    }
  }

  /// Waits while the call is paused. Call this before building a request, so that nothing stale is sent.
  func waitWhilePaused() async throws {
    if let control = plan.control { try await control.gate.pass() }
  }

  private func throughSteps(
    _ steps: [any PerCallStep], _ request: HTTPRequest,
    _ attempts: @escaping @Sendable (HTTPRequest) async throws -> Outcome
  ) async throws -> Outcome {
    guard !steps.isEmpty else { return try await attempts(request) }
    return try outcome(ofSteps: await through(ArraySlice(steps), request) { try await attempts($0).response })
  }

  /// Sends a request through the app's per-attempt steps, which may make calls themselves.
  private func throughSteps(
    _ request: HTTPRequest, _ last: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    guard hasAttemptSteps else { return try await last(request) }
    return try await through(ArraySlice(snapshot.configuration.perAttemptSteps), request, last)
  }

  /// The senders of the responses that the steps received, and the last response. Steps can release its body.
  private struct Received {
    var senders: [Int?] = []
    var request: HTTPRequest?
    var redirects: [Redirect] = []
    weak var body: HTTPResponseBody?
  }

  /// Sends a request through steps. A step may create a new request or response: it keeps the original's options and
  /// redirects. A step may also return another call's response, which keeps only its head and its bytes.
  @inline(never)  // inlining would enlarge the stack of every call without steps
  private func through(
    _ steps: ArraySlice<any Step>, _ request: HTTPRequest,
    _ last: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    let received = Lock(Received())
    var response = try await Next(steps) { [self] changed in
      let response = try await last(withOptions(changed, of: request))
      received.withLock { received in
        received.senders.append(response.sender)
        (received.request, received.redirects, received.body) = (response.request, response.redirects, response.body)
      }
      return response
    }(request)
    let last = received.withLock { $0 }
    let isCreated = response.sender == nil && response.cacheStatus == nil
    if !last.senders.contains(response.sender) { response.forgetExchange() }
    if isCreated, response.redirects.isEmpty { response.redirects = last.redirects }
    // Calls can share a response: cancelling one call must not affect the others.
    let isLast = response.body === last.body
    if !isLast { response.body = response.body.reopened() }
    response.checkMatch(with: (isCreated && isLast ? last.request : nil) ?? request)
    return response
  }

  private func resendingOnceOnline(
    _ request: HTTPRequest, _ next: (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    guard let wait = rules.connectivity else { return try await next(request) }
    return try await wait.send(request, trace, next)
  }
}
