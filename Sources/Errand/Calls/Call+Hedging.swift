extension Call {
  private enum HedgeEvent: Sendable {
    case delayOver
    case ended(AttemptResult, isFirst: Bool)
  }

  private var hedging: Hedging { surroundings?.hedging ?? .none }

  /// True when another attempt may be made beside one at `request`.
  @inline(__always)
  func mayHedge(_ request: HTTPRequest) -> Bool {
    surroundings != nil && !hedging.isNone && request.body.isReplayable && request.isRepeatable(plan.idempotency)
  }

  /// Runs an attempt and, where it takes long, others beside it.
  ///
  /// - Parameters:
  ///   - number: The number of the first attempt; afterwards that of the last.
  ///   - request: The request of the first.
  ///   - again: Makes that of another.
  /// - Returns: The first result that will do, else that of the first attempt; everything else has ended.
  func hedged(
    _ number: inout Int, _ request: HTTPRequest, again: @escaping @Sendable () async throws -> HTTPRequest
  ) async -> AttemptResult {
    let first = Attempt(number, of: self)
    let delay = hedging.delay
    var race = HedgeRace(hedging)
    var standing = AttemptResult.failure(CancellationError())
    return await withTaskGroup(of: HedgeEvent?.self) { group in
      let attempt = joined { await self.make(first, request) }
      group.addTask { .ended(await attempt(), isFirst: true) }
      group.addTask { await self.wait(delay) }
      while let event = await group.next() {
        switch event {
        case .delayOver:
          let action = race.delayOver(isUnderWay: first.isUnderWay) { takeHedge(request) }
          if action == .launch {
            number += 1
            let hedge = joined { [number] in await self.hedge(number, again) }
            group.addTask { .ended(await hedge(), isFirst: false) }
          }
          if action != .stop { group.addTask { await self.wait(delay) } }
        case .ended(let result, let isFirst):
          let action = race.ended(isAcceptable: isAcceptable(result))
          let isBetter = action == .win || (action != .discard && isFirst)
          (isBetter ? standing : result).discard()
          if isBetter { standing = result }
          if action == .win || action == .lose { group.cancelAll() }
        case nil: break
        }
      }
      return standing
    }
  }

  private func hedge(_ number: Int, _ again: @Sendable () async throws -> HTTPRequest) async -> AttemptResult {
    await plan.task.willRetry(after: .zero, attempts: trace.flightRecord.attempts)
    trace.note(.hedgeSent(number))
    do {
      let request = try await again()
      return await make(Attempt(number, of: self), request)
    } catch {
      return .failure(error)
    }
  }

  /// An attempt in a child task, which holds the serial queues of its call as well.
  private func joined(_ attempt: @escaping @Sendable () async -> AttemptResult) -> @Sendable () async -> AttemptResult {
    let attempt = SerialQueues.joined(attempt)
    return {
      do { return try await attempt() } catch { return .failure(error) }
    }
  }

  private func wait(_ delay: Duration) async -> HedgeEvent? {
    do {
      try await manager.clock.sleep(for: delay)
      return .delayOver
    } catch {
      return nil  // the race is over
    }
  }

  /// Spends what a hedge costs; false where none may be sent.
  private func takeHedge(_ request: HTTPRequest) -> Bool {
    guard !Task.isCancelled, let host = Origin(request.url) else { return false }
    let breaker = snapshot.configuration.circuitBreaker
    if !breaker.isOff, manager.circuits.circuit(of: host) != .closed { return false }
    return spendHedge(for: host)
  }

  /// True for a result that will do: any answer but one that might be better a moment later.
  private func isAcceptable(_ result: AttemptResult) -> Bool {
    guard case .success(let outcome) = result else { return false }
    let status = outcome.response.status
    return outcome.isSuccess || !(status.code >= 500 || RetryableStatuses.standard.contains(status))
  }
}
