extension Call {
  private enum HedgeEvent: Sendable {
    case delayOver
    case ended(Attempt, Result<HTTPResponse, any Error>)
  }

  /// Whether the request can be hedged, that is, sent again on another connection if its response is slow. Only safe
  /// methods are hedged: the server may process the slower of two writes after a later call's write.
  func mayHedge(_ request: HTTPRequest) -> Bool {
    !rules.hedging.isNone && request.body.isInMemory && request.method.isSafe
      && request.isRepeatable(plan.idempotency)
  }

  /// Sends `request` and sends it again whenever ``Hedging/delay`` has passed without a response.
  ///
  /// Returns the first acceptable response, or the first exchange's result if no response is acceptable. All other
  /// exchanges have ended when this function returns.
  func hedged(_ request: HTTPRequest, of attempt: Attempt) async throws -> HTTPResponse {
    let (sent, signal) = AsyncStream<Void>.makeStream()
    var race = HedgeRace(rules.hedging)
    var winner: (attempt: Attempt, result: Result<HTTPResponse, any Error>)?
    var hedges: [Attempt] = []
    var fallback = (result: Result<HTTPResponse, any Error>.failure(CancellationError()), time: trace.elapsed)
    await withTaskGroup(of: HedgeEvent?.self) { group in
      group.addTask { .ended(attempt, await attempt.result(of: request, .first { signal.finish() })) }
      group.addTask { await self.hedgeDelay(after: sent) }
      while let event = await group.next() {
        switch event {
        case .delayOver:
          guard race.mayLaunch, let payment = hedgePayment(for: request) else { continue }
          race.launched()
          let hedge = attempt.hedge()
          hedges.append(hedge)
          group.addTask {
            let result = await hedge.result(of: request, .hedge)
            if !hedge.sent.isNothing { payment.use() }
            return .ended(hedge, result)
          }
          group.addTask { await self.hedgeDelay() }
        case .ended(let exchange, let result):
          let action = race.ended(isAcceptable: isAcceptable(result), asksToWait: asksToWait(result))
          if action == .win { winner = (exchange, result) }
          if exchange === attempt {
            fallback = (result, trace.elapsed)
          } else if action != .win {
            exchange.endUnused(result, at: trace.elapsed)
          }
          if action == .win || action == .lose { group.cancelAll() }
        case nil: break
        }
      }
    }
    if let winner, winner.attempt !== attempt {
      attempt.endUnused(fallback.result, at: fallback.time)
      attempt.adopt(winner.attempt)
    }
    for hedge in hedges { attempt.add(hedge.sent) }
    do { return try (winner?.result ?? fallback.result).get() } catch { throw attempt.judged(error) }
  }

  /// Waits for the hedging delay, starting over after each pause of the call. Returns `nil` if the race ends first.
  private func hedgeDelay(after sent: AsyncStream<Void>? = nil) async -> HedgeEvent? {
    if let sent { for await _ in sent {} }
    do {
      try await manager.clock.sleep(for: rules.hedging.delay)
      while plan.control?.gate.isClosed == true {
        try await waitWhilePaused()
        try await manager.clock.sleep(for: rules.hedging.delay)
      }
      return .delayOver
    } catch {
      return nil
    }
  }

  /// Charges a hedge to its host's retry budget. Returns `nil` if the host has no free slot, the budget is used up or
  /// the host's circuit is not closed.
  private func hedgePayment(for request: HTTPRequest) -> RetryPayment? {
    guard !Task.isCancelled, let host = Origin(request.url) else { return nil }
    guard manager.admission.hasRoom(at: host) else { return nil }
    let breaker = snapshot.configuration.circuitBreaker
    if !breaker.isOff, manager.circuits.circuit(of: host) != .closed { return nil }
    let payment = manager.retries.pay(for: host)
    if payment == nil { trace.note(.retryRefused(reason: Self.exhausted(host))) }
    return payment
  }

  /// Whether a result ends the race: a complete response with a status that a hedge could not improve.
  private func isAcceptable(_ result: Result<HTTPResponse, any Error>) -> Bool {
    guard case .success(let response) = result, response.body.failure == nil else { return false }
    let status = response.status
    return plan.acceptedStatuses.contains(status)
      || !(status.code >= 500 || RetryableStatuses.standard.contains(status))
  }

  /// Whether a response asks the client to send fewer requests (RFC 6585 §4, RFC 9110 §15.6.4) or to wait (RFC 9110
  /// §10.2.3).
  private func asksToWait(_ result: Result<HTTPResponse, any Error>) -> Bool {
    guard case .success(let response) = result else { return false }
    let status = response.status
    return status == .tooManyRequests || status == .serviceUnavailable || response.headers.contains(.retryAfter)
  }
}

// MARK: The exchanges of a race

extension Attempt {
  fileprivate func result(
    of request: HTTPRequest, _ race: Exchange.Race
  ) async -> Result<HTTPResponse, any Error> {
    do { return .success(try await exchange(request, nil, race)) } catch { return .failure(error) }
  }

  fileprivate func endUnused(_ result: Result<HTTPResponse, any Error>, at time: Duration) {
    switch result {
    case .success(let response): end(with: response, at: time)
    case .failure(let error): _ = failed(error, at: time)
    }
  }
}
