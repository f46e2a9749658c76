extension Call {
  /// The life of one task, from its plan to its result. The numbers are those of the guide "How a task travels".
  @concurrent static func perform<Value: Sendable>(
    _ plan: consuming TaskPlan, _ delivery: Delivery, finish: @escaping @Sendable (Outcome) async throws -> Value
  ) async throws -> Value {
    let call = Call(plan, delivery)  // 1. snapshot the configuration
    return try await call.run { call in  // … begun and ended once, cancellable, under its deadline (11)
      try call.refuseIfDisabled()
      return try await call.manager.serialQueues.withTurn(call.plan.serialQueue) {  // 2. wait for the serial queue
        try await call.holdWhilePaused()
        let request = try await call.interruptible {
          let request = try await call.build()  // 3. URL, query, headers, body; 4. preflight
          await call.plan.task.didStart(request)
          return request
        }
        let response = try await call.through(call.callSteps, request) { changed in  // 5. steps that see the call once
          try await call.attempts(changed, built: request)  // 6.–9. attempts: steps, slot, transport, body
        }
        return try await call.interruptible {
          try await call.conclude(response, finish: finish)  // 10. verify, decode, postProcess, postflight
        }
      }
    }
  }
}

extension Call {
  /// 5. The steps that see a call once.
  fileprivate var callSteps: [any Step] { snapshot.configuration.perCallSteps }

  /// 7. The steps that see every attempt.
  private var attemptSteps: [any PerAttemptStep] {
    var steps = snapshot.configuration.perAttemptSteps
    if let pausing { steps.insert(pausing, at: 0) }
    if let waitingForConnectivity { steps.append(waitingForConnectivity) }
    return steps
  }

  /// 6. The attempt loop: sends until an attempt succeeds, or the policy, the deadline or the budget gives up.
  func attempts(_ first: HTTPRequest, built: HTTPRequest) async throws -> HTTPResponse {
    var request = first
    var number = 1
    while true {
      let result =
        mayHedge(request)
        ? await hedged(&number, request) { try await self.rebuild(first, built: built) }
        : await run(Attempt(number, of: self), request)
      guard let error = mendable(result, of: request),
        case .retry(let delay, let reason) = try await decide(error, of: request)
      else { return try result.get() }
      result.discard()
      try await wait(delay, reason: reason)
      number += 1
      request = try await interruptible { try await self.rebuild(first, built: built) }
    }
  }

  /// The request of another attempt: built anew, so that nothing stale is sent, with the changes by the steps of 5.
  private func rebuild(_ first: HTTPRequest, built: HTTPRequest) async throws -> HTTPRequest {
    try await build(again: true).applying(changesFrom: built, to: first)
  }

  /// 7.–9. One attempt: its steps, and at their end the transport.
  func run(_ attempt: Attempt, _ request: HTTPRequest) async -> AttemptResult {
    do {
      let response = try await through(attemptSteps, of: attempt, request) { request in
        let request = self.keepingHeadersHome(request)
        self.note(request: request, of: attempt.number)
        let host = try self.sendableOrigin(of: request)
        let slot = try await attempt.waitForSlot(host)  // 8. admission
        let pass = try attempt.passCircuit(host)  // the circuit breaker has the last word
        return try await attempt.send(request, to: host, slot, pass)  // 9. transport, the slot held to the body's end
      }
      return await attempt.received(response)
    } catch {
      return attempt.failed(error)
    }
  }
}

// MARK: Steps

extension Call {
  /// Sends a request through steps, in order, and then to `last`.
  @inline(__always)  // most calls have no steps
  func through(
    _ steps: [any Step], _ request: HTTPRequest, _ last: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    guard !steps.isEmpty else { return try await last(request) }
    return try await Next(ArraySlice(steps), last: last)(request)
  }

  /// Sends the request of an attempt through its steps, which may make calls of their own.
  @inline(__always)
  func through(
    _ steps: [any PerAttemptStep], of attempt: Attempt, _ request: HTTPRequest,
    _ last: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    guard !steps.isEmpty else { return try await last(request) }
    return try await attempt.enclosing { try await Next(ArraySlice(steps), last: last)(request) }
  }

  /// True when an app's steps see the responses of its attempts.
  var hasAttemptSteps: Bool { !snapshot.configuration.perAttemptSteps.isEmpty }

  /// True when sending a request, or seeing its response, may wait for another call.
  func mayEncloseCalls(_ request: HTTPRequest) -> Bool { hasAttemptSteps || request.body.isStream }

  /// The step that makes the bodies of a paused call wait; nil where the call has no control.
  var pausing: (any PerAttemptStep)? { plan.control.map { PauseStep(gate: $0.gate) } }

  /// The step that waits for a network; nil where the server does not.
  var waitingForConnectivity: (any PerAttemptStep)? {
    guard snapshot.configuration.waitsForConnectivity else { return nil }
    return ConnectivityWait(
      reachability: snapshot.configuration.reachability, allowance: connectivityAllowance, clock: manager.clock)
  }
}
