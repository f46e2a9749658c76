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
    var best = AttemptResult.failure(CancellationError())
    return await withTaskGroup(of: HedgeEvent?.self) { group in
      group.addTask(operation: racing(isFirst: true) { await self.make(first, request) })
      group.addTask { await self.delay() }
      while let event = await group.next() {
        switch event {
        case .delayOver:
          let action = race.delayOver(isUnderWay: first.isUnderWay) { takeHedge(request) }
          if action == .stop { continue }
          // Without a delay there is nothing to look again after: the slot itself is waited for.
          group.addTask { action == .wait && delay == .zero ? await self.begun(first) : await self.delay() }
          if action == .wait { continue }
          number += 1
          group.addTask(operation: racing(isFirst: false) { [number] in await self.hedge(number, again) })
        case .ended(let result, let isFirst):
          let action = race.ended(isAcceptable: isAcceptable(result))
          best.replace(with: result, if: action == .win || (action != .discard && isFirst))
          if action == .win || action == .lose { group.cancelAll() }
        case nil: break
        }
      }
      return best
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
  private func racing(
    isFirst: Bool, _ attempt: @escaping @Sendable () async -> AttemptResult
  ) -> @concurrent @Sendable () async -> HedgeEvent? {
    let attempt = SerialQueues.joined(attempt)
    return {
      do {
        return .ended(try await attempt(), isFirst: isFirst)
      } catch {
        return .ended(.failure(error), isFirst: isFirst)
      }
    }
  }

  /// Waits until another attempt may be made; nil where the race is over before.
  private func delay() async -> HedgeEvent? {
    do {
      try await manager.clock.sleep(for: hedging.delay)
      return .delayOver
    } catch {
      return nil
    }
  }

  /// Waits until an attempt has its slot; nil where the race is over before.
  private func begun(_ attempt: Attempt) async -> HedgeEvent? {
    await attempt.waitUntilUnderWay()
    return Task.isCancelled ? nil : .delayOver
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
