extension Call {
  private enum HedgeEvent: Sendable {
    case delayOver
    case ended(AttemptResult, number: Int)
  }

  private var hedging: Hedging { rules.hedging }

  /// True when another attempt may be made beside one at `request`.
  @inline(__always)
  func mayHedge(_ request: HTTPRequest) -> Bool {
    !hedging.isNone && request.body.isReplayable && request.isRepeatable(plan.idempotency)
  }

  /// Runs an attempt and, where it takes long, others beside it.
  ///
  /// - Parameters:
  ///   - first: The attempt.
  ///   - number: Its number; afterwards that of the last.
  ///   - request: Its request.
  ///   - again: Makes that of another.
  /// - Returns: The first result that will do, else that of the first attempt; everything else has ended.
  func hedged(
    _ first: Attempt, _ number: inout Int, _ request: HTTPRequest,
    again: @escaping @Sendable () async throws -> HTTPRequest
  ) async -> AttemptResult {
    let firstNumber = number
    let delay = hedging.delay
    var race = HedgeRace(hedging)
    var best = (result: AttemptResult.failure(CancellationError()), weight: -1)
    state.withLock { $0.setRacing(true) }
    defer { state.withLock { $0.setRacing(false) } }
    return await withTaskGroup(of: HedgeEvent?.self) { group in
      group.addTask(operation: racing(firstNumber) { await self.make(first, request) })
      group.addTask { await self.delay() }
      while let event = await group.next() {
        switch event {
        case .delayOver:
          // Once one was sent beside it, the first may have come to nothing.
          let isUnderWay = first.wasSent || (number > firstNumber && first.hasEnded)
          var payment: RetryPayment?
          let action = race.delayOver(isUnderWay: isUnderWay) {
            payment = hedgePayment(for: request)
            return payment != nil
          }
          if action == .stop { continue }
          // Without a delay there is nothing to look again after: the slot itself is waited for.
          group.addTask { action == .wait && delay == .zero ? await self.begun(first) : await self.delay() }
          if action == .wait { continue }
          number += 1
          group.addTask(
            operation: racing(number) { [number, payment] in await self.hedge(number, payment, again) })
        case .ended(let result, let number):
          let action = race.ended(isAcceptable: isAcceptable(result), asksToWait: asksToWait(result))
          let weight = weight(of: result, number, isFirst: number == firstNumber)
          best.result.replace(with: result, if: action == .win || (action != .discard && weight > best.weight))
          best.weight = max(best.weight, weight)
          if action == .win || action == .lose { group.cancelAll() }
        case nil: break
        }
      }
      return best.result
    }
  }

  /// The rank of a failure in a race. A cancelled call ranks highest, then the attempt that sent a once-only request, then the first
  /// attempt, then any other. An attempt that the race cancelled ranks last.
  private func weight(of result: AttemptResult, _ number: Int, isFirst: Bool) -> Int {
    if case .failure(let error) = result, error is CancellationError { return Task.isCancelled || isCancelled ? 4 : 0 }
    return state.withLock { $0.isSender(number) } ? 3 : isFirst ? 2 : 1
  }

  /// Makes another attempt, which was paid for. One of which nothing was sent costs the budget of its host nothing.
  private func hedge(
    _ number: Int, _ payment: RetryPayment?, _ again: @Sendable () async throws -> HTTPRequest
  ) async -> AttemptResult {
    do {
      try await waitOutPauses()
      if tellsHooks { await plan.task.willRetry(after: .zero, attempts: trace.flightRecord.attempts) }
      trace.note(.hedgeSent(number))
      let (request, attempt) = (try await again(), Attempt(number, of: self))
      let result = await make(attempt, request)
      if attempt.wasSent { payment?.use() }
      return result
    } catch {
      return .failure(error)
    }
  }

  /// An attempt in a child task.
  private func racing(
    _ number: Int, _ attempt: @escaping @Sendable () async -> AttemptResult
  ) -> @concurrent @Sendable () async -> HedgeEvent? {
    { .ended(await attempt(), number: number) }
  }

  /// Waits until another attempt may be made, anew after a pause that it ends in; nil where the race is over before.
  private func delay() async -> HedgeEvent? {
    do {
      try await manager.clock.sleep(for: hedging.delay)
      try await waitOutPauses()
      return .delayOver
    } catch {
      return nil
    }
  }

  /// Waits while the call is paused, and for another delay after each pause.
  private func waitOutPauses() async throws {
    while plan.control?.gate.isClosed == true {
      try await holdWhilePaused()
      try await manager.clock.sleep(for: hedging.delay)
    }
  }

  /// Waits until an attempt has a slot for a request; nil where it, or the race, is over before.
  private func begun(_ attempt: Attempt) async -> HedgeEvent? {
    await attempt.waitUntilSent()
    return Task.isCancelled || attempt.hasEnded ? nil : .delayOver
  }

  /// Pays for a hedge from its host's retry budget; nil where none may be sent. It is noted where the budget is used up, or where
  /// steps have made the first request one that may not be sent twice.
  private func hedgePayment(for request: HTTPRequest) -> RetryPayment? {
    guard !Task.isCancelled, let host = Origin(request.url) else { return nil }
    let breaker = snapshot.configuration.circuitBreaker
    if !breaker.isOff, manager.circuits.circuit(of: host) != .closed { return nil }
    let obstacle = obstacleOfSteps
    let payment = obstacle == nil ? manager.retries.pay(for: host) : nil
    if payment == nil { trace.note(.retryRefused(reason: obstacle ?? Self.exhausted(host))) }
    return payment
  }

  /// True for a result that will do: any answer but one that might be better a moment later.
  private func isAcceptable(_ result: AttemptResult) -> Bool {
    guard case .success(let outcome) = result else { return false }
    let status = outcome.response.status
    return outcome.isSuccess || !(status.code >= 500 || RetryableStatuses.standard.contains(status))
  }

  /// True for an answer that asks for fewer requests (RFC 6585 §4, RFC 9110 §15.6.4), or for a wait (§10.2.3).
  private func asksToWait(_ result: AttemptResult) -> Bool {
    guard case .success(let outcome) = result else { return false }
    let (status, headers) = (outcome.response.status, outcome.response.headers)
    return status == .tooManyRequests || status == .serviceUnavailable || headers.contains(.retryAfter)
  }
}

// MARK: The wait for the attempt before

extension Attempt {
  /// True where a request of it is on its way, or may have reached a server.
  var wasSent: Bool { state.withLock { $0.sent > 0 } }

  /// True once it has its result.
  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// The time at which it got its slot, counted from the start of the call.
  var startTime: Duration { state.withLock { $0.start } }

  /// Returns once a request of it is on its way, it has ended, or the surrounding Swift task is cancelled. One may wait.
  func waitUntilSent() async {
    await answer { waiter in
      state.withLock { state -> Void? in
        guard state.sent == 0, !state.hasEnded, !Task.isCancelled else { return () }
        state.starter = waiter
        return nil
      }
    } onCancel: {
      wakeStarter()
    }
  }

  private func wakeStarter() {
    let starter = state.withLock { state in
      defer { state.starter = nil }
      return state.starter
    }
    starter?.resume()
  }
}
