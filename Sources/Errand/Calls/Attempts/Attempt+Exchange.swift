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

      var mayWait: Bool { if case .hedge = self { false } else { true } }
    }

    private var call: Call { attempt.call }

    /// 8. Sends the request once: checks it, consults the circuit breaker, waits for a slot, sends it and reads the body.
    ///
    /// This is the only code that holds a slot. An exchange whose response is streamed also holds a stream permit. If
    /// the app produces the request's body, the exchange holds a stream permit instead and frees its slot before it
    /// begins.
    func run() async throws -> HTTPResponse {
      call.noteRequest(request, of: attempt.number)
      let (manager, priority, limit) = (call.manager, call.plan.priority, call.timeouts.queue)
      var queuedAt: Duration?
      var hasSlot = false
      do {
        let host = try call.sendableOrigin(of: request)
        // Fail fast instead of waiting for a slot first.
        if !call.snapshot.configuration.circuitBreaker.isOff { try manager.circuits.check(host) }
        var permit: StreamPermit?
        defer { withExtendedLifetime(permit) {} }
        if call.destination.isStream || request.body.isProduced {
          permit = try await manager.streams.permit(at: host, priority, within: limit) { enterQueue(&queuedAt) }
        }
        // The limit applies to both waits together.
        let rest = limit.map { limit in limit - (queuedAt.map { call.trace.elapsed - $0 } ?? .zero) }
        let response = try await manager.admission.withSlot(at: host, priority, within: rest, mayWait: race.mayWait) {
          enterQueue(&queuedAt)
        } exchange: { () -> HTTPResponse? in
          hasSlot = true
          return request.body.isProduced ? nil : try await begin(at: host, queuedAt).run(permit)
        }
        if let response { return response }
        return try await begin(at: host, queuedAt).run(permit)
      } catch {
        if hasSlot { throw error }
        if let queuedAt {
          let queued = call.trace.elapsed - queuedAt
          attempt.noteWait(queued)
          call.trace.note(.leftQueue(after: queued))
        }
        attempt.add(.nothing)
        let error = relimited(error, to: limit)
        note(error, isDeadline: error is CancellationError && call.hasExpired)
        throw error
      }
    }

    private func enterQueue(_ queuedAt: inout Duration?) {
      guard queuedAt == nil else { return }
      call.trace.note(.queued)
      queuedAt = call.trace.elapsed
    }

    /// Returns the error with the queue timeout instead of the rest of it.
    private func relimited(_ error: any Error, to limit: Duration?) -> any Error {
      guard let limit, let late = error as? TaskError, late.timer == .queue, late.limit != limit else { return error }
      return late.relimited(to: limit)
    }

    private func begin(at host: Origin, _ queuedAt: Duration?) throws -> Admitted {
      if let queuedAt {
        let queued = call.trace.elapsed - queuedAt
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
      let (number, now) = (attempt.number, call.trace.elapsed)
      let reason = attempt.reason(TaskError.ofTransfer(error))
      call.record { $0.fail(reason, of: number, at: now) }
    }
  }
}

extension Attempt {
  /// Sends a request once, after asking for the proxy's credential if necessary.
  func exchange(
    _ request: HTTPRequest, _ digest: DigestExchange? = nil, _ race: Exchange.Race = .alone
  ) async throws -> HTTPResponse {
    // Stored responses are removed here because a step may change the URL or return another response, and outside the
    // slot because the cache store may make calls.
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
