import ErrandFoundation

extension Attempt {
  /// A request to a host and its response. ``Admitted`` is an exchange that has its slot.
  struct Exchange: Sendable {
    let attempt: Attempt
    let request: HTTPRequest
    /// Authenticates the request if it has a Digest credential.
    let digest: DigestExchange?
    let race: Race

    /// The exchange's role in a hedging race.
    enum Race: Sendable {
      case alone
      /// The first request, with a closure to call when it is sent.
      case first(onSent: @Sendable () -> Void)
      /// A hedge never waits for a slot: the slot it would get may be that of the first request.
      case hedge
    }

    private var call: Call { attempt.call }

    /// 8. Sends the request once: checks it, consults the circuit breaker, waits for a slot, sends it and reads the body.
    ///
    /// This is the only code that holds a slot. An exchange whose response is streamed also holds a stream permit. If
    /// the app produces the request's body, the exchange holds a stream permit instead and frees its slot before it
    /// begins.
    func run() async throws -> HTTPResponse {
      call.noteRequest(request, of: attempt.number)
      let (manager, priority) = (call.manager, call.plan.priority)
      var queued: Duration?
      var hasSlot = false
      do {
        let host = try call.sendableOrigin(of: request)
        // Fail fast instead of waiting for a slot first.
        if !call.snapshot.configuration.circuitBreaker.isOff { try manager.circuits.check(host) }
        var permit: StreamPermit?
        defer { withExtendedLifetime(permit) {} }
        if call.delivery.isStream || request.body.isProduced {
          permit = try await manager.streams.permit(at: host, priority) { try await wait($0, &queued) }
        }
        if request.body.isProduced {
          try await manager.admission.withSlot(at: host, priority) {
            try await wait($0, &queued)
          } exchange: {
          }
          hasSlot = true
          return try await begin(at: host, after: queued).run(permit)
        }
        return try await manager.admission.withSlot(at: host, priority) {
          try await wait($0, &queued)
        } exchange: {
          hasSlot = true
          return try await begin(at: host, after: queued).run(permit)
        }
      } catch {
        if hasSlot { throw error }
        if let queued {
          attempt.noteWait(queued)
          call.trace.note(.leftQueue(after: queued))
        }
        attempt.add(.nothing)
        note(error, isDeadline: error is CancellationError && call.hasExpired)
        throw error
      }
    }

    /// Waits in the queue for at most the queue timeout. `queued` is the total time of this wait and the previous one.
    private func wait(_ wait: @escaping @Sendable () async throws -> Void, _ queued: inout Duration?) async throws {
      if case .hedge = race {
        throw TaskError(.queueFull, "no slot is free for a hedge", phase: .waiting, wasNotSent: true)
      }
      let start = call.trace.elapsed
      if queued == nil { call.trace.note(.queued) }
      let before = queued ?? .zero
      defer { queued = before + call.trace.elapsed - start }
      guard let limit = call.timeouts.queue else { return try await wait() }
      do {
        try await call.manager.clock.limiting(max(.zero, limit - before), .queue, phase: .waiting, wait)
      } catch let error as TaskError where error.timer == .queue && before > .zero {
        throw error.relimited(to: limit)
      }
    }

    private func begin(at host: Origin, after queued: Duration?) throws -> Admitted {
      if let queued {
        attempt.noteWait(queued)
        call.trace.note(.admitted(after: queued))
      }
      try call.checkCancellation()  // after the last app code that can cancel the call
      let (gateChanges, start) = (call.plan.control?.gate.changes ?? 0, call.trace.elapsed)
      let (isFirst, isHurried) = attempt.begin(at: start)
      if case .first(let onSent) = race { onSent() }
      return Admitted(
        self, host: host, start: start, gateChanges: gateChanges, isFirst: isFirst,
        isHurried: isHurried)
    }

    /// Records the failure in the call's record, unless the call's deadline caused it.
    func note(_ error: any Error, isDeadline: Bool) {
      guard call.isShown, !isDeadline else { return }
      call.noteFailure(attempt.reason(TaskError.ofTransfer(error)), of: attempt.number)
    }
  }
}

extension Attempt {
  /// Sends a request once, after asking for the proxy's credential if necessary.
  func exchange(
    _ request: HTTPRequest, _ digest: DigestExchange? = nil, _ race: Exchange.Race = .alone
  ) async throws -> HTTPResponse {
    // Do this here because a step may change the URL or return another response. Do it before taking a slot because the
    // credential store may make calls.
    do {
      let response = try await request.renewingProxyCredential {
        try await Exchange(attempt: self, request: $0, digest: digest, race: race).run()
      }
      if call.sharesResponses, let sent = response.request { await call.forget(response, to: sent) }
      return response
    } catch {
      if call.sharesResponses, !sent.isNothing { await call.forget(unanswered: request) }
      throw error
    }
  }
}
