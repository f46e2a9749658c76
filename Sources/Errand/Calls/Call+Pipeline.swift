extension Call {
  /// The life of one task, from its plan to its result. The numbers are those of the guide "How a task travels".
  @concurrent static func perform<Value: Sendable>(
    _ plan: consuming TaskPlan, _ delivery: Delivery, finish: @escaping @Sendable (Outcome) async throws -> Value
  ) async throws -> Value {
    let call = Call(plan, delivery)  // 1. snapshot the configuration
    return try await call.perform(finish: finish)
  }

  /// Runs a call that others can cancel from its first moment.
  func perform<Value: Sendable>(finish: @escaping @Sendable (Outcome) async throws -> Value) async throws -> Value {
    try await run { call in  // … begun and ended once, cancellable, under its deadline (11)
      try await call.begin()
      return try await call.inTurn {  // 2. wait for the serial queue, and while the call is paused
        let request = try await call.build()  // 3. URL, query, headers, body; 4. preflight
        call.noteBuilt(request)
        if call.tellsHooks { await call.plan.task.didStart(request) }
        let outcome = try await call.answer(to: request)  // 5.–9. steps, cache, attempts: slot, transport, body
        return try await call.conclude(outcome, finish: finish)  // 10. verify, decode, postProcess, postflight
      }
    }
  }

  /// 5. What surrounds the attempts, where anything does.
  private func answer(to request: HTTPRequest) async throws -> Outcome {
    try await throughSteps(snapshot.configuration.perCallSteps, request) { changed in  // steps that see the call once
      try await self.coalesced(changed, built: request) { alone in  // joins another call that sends the same
        try await self.throughCache(alone) { asked in  // what the cache has ends here
          try await self.attempts(asked, built: request)
        }
      }
    }
  }

  /// 6. The attempt loop: sends until an attempt succeeds, or the policy, the deadline or the budget gives up.
  func attempts(_ first: HTTPRequest, built: HTTPRequest) async throws -> Outcome {
    var request = first
    state.withLock { $0.beginAttempts() }
    var payment: RetryPayment?  // for the attempt to come; it goes back where nothing is sent
    while true {
      let attempt = Attempt(of: self)
      let result = await make(attempt, request)
      if let paid = payment, attempt.wasSent {
        paid.use()
        payment = nil
      }
      if result.isAnswer { state.withLock { $0.wasPerhapsSent = true } }
      if let error = retryableError(of: result), try await waitsForRetry(after: error, result, of: request, &payment) {
        request = try await rebuild(first, built: built)
        continue
      }
      let outcome = try result.get()
      // The steps around the attempts may make another response of a part.
      if let unasked = outcome.response.unasked { state.withLock { $0.unasked = unasked } }
      return outcome
    }
  }

  /// Waits for the time of a retry. Returns `false` if the failure is not retried.
  @inline(never)  // the failure path would double the stack of every call
  private func waitsForRetry(
    after error: TaskError, _ result: AttemptResult, of request: HTTPRequest, _ payment: inout RetryPayment?
  ) async throws -> Bool {
    guard let delay = try await retryDelay(after: error, result, of: request, &payment) else { return false }
    result.discard()  // before the delay, which may be long
    try await wait(delay, after: error)
    return true
  }

  /// The request of another attempt: built anew, so that nothing stale is sent, with the changes by the steps of 5.
  private func rebuild(_ first: HTTPRequest, built: HTTPRequest) async throws -> HTTPRequest {
    try await build(again: true).applying(changesFrom: built, to: first)
  }

  /// 7. One attempt: a request in, a result out. Each feature is a function around the next one, outermost first.
  func make(_ attempt: Attempt, _ request: HTTPRequest) async -> AttemptResult {
    do {
      let response = try await throughSteps(request) { request in  // of the app
        try await self.authenticated(request) { request in
          try await self.waitingForNetwork(request) { request in
            try await self.followingRedirects(request, of: attempt) { request in
              try await self.answeringDigest(request, of: attempt) { request, digest in
                guard digest == nil, self.mayHedge(request) else {
                  return try await attempt.exchange(request, digest)  // 8. slot, transport, body
                }
                return try await self.hedged(request, of: attempt)  // several of 8.
              }
            }
          }
        }
      }
      return await attempt.received(keepsRequests ? await stored(response, of: attempt) : response)
    } catch {
      return attempt.failed(error)
    }
  }
}

// MARK: Passed through by most calls

extension Call {
  /// Runs `body` once the call has its turn in its serial queue, and is not paused.
  private func inTurn<Value>(_ body: () async throws -> Value) async throws -> Value {
    try await manager.serialQueues.withTurn(plan.serialQueue) { isOver, queue in
      trace.note(isOver ? .turnWaitEnded : .turnWaitStarted(queue: queue))
    } body: {
      // The turn may be that of a call which has ended because of this one, and cancelled it: nothing is sent then.
      try checkCancellation()
      try await holdWhilePaused()
      return try await body()
    }
  }

  /// Waits while the call is paused; done before a request is built, so that nothing stale is sent.
  func holdWhilePaused() async throws {
    if let control = plan.control { try await control.gate.pass() }
  }

  /// Sends a request through the steps that see the call once, and then by `attempts`.
  private func throughSteps(
    _ steps: [any PerCallStep], _ request: HTTPRequest,
    _ attempts: @escaping @Sendable (HTTPRequest) async throws -> Outcome
  ) async throws -> Outcome {
    guard !steps.isEmpty else { return try await attempts(request) }
    return try outcome(ofSteps: await Next(ArraySlice(steps)) { try await attempts($0).response }(request))
  }

  /// Sends the request of an attempt through the app's steps, which may make calls.
  private func throughSteps(
    _ request: HTTPRequest, _ last: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    guard hasAppSteps else { return try await last(request) }
    return try await Next(ArraySlice(snapshot.configuration.perAttemptSteps), last: last)(request)
  }

  /// Waits for a network instead of failing, if the server's configuration says so.
  private func waitingForNetwork(
    _ request: HTTPRequest, _ next: (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    guard let wait = rules.connectivity else { return try await next(request) }
    return try await wait.send(request, next)
  }

  /// Whether steps see the responses of its attempts.
  var showsResponsesToSteps: Bool { hasAppSteps || rules.authentication != nil }
}
