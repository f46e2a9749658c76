import ErrandFoundation

extension Attempt.Exchange {
  /// An exchange that has its slot. A class, because the handlers of the body retain it.
  final class Admitted: Sendable {
    let exchange: Attempt.Exchange
    let host: Origin
    /// When the exchange got its slot, relative to the start of the call.
    let start: Duration
    /// The change count of the call's pause gate at that time.
    let gateChanges: Int
    /// Whether this is the attempt's first exchange.
    let isFirst: Bool
    /// Whether earlier redirects left less than half of the time limit.
    let isHurried: Bool

    init(
      _ exchange: Attempt.Exchange, host: Origin, start: Duration, gateChanges: Int, isFirst: Bool, isHurried: Bool
    ) {
      (self.exchange, self.host, self.start) = (exchange, host, start)
      (self.gateChanges, self.isFirst, self.isHurried) = (gateChanges, isFirst, isHurried)
    }

    private var attempt: Attempt { exchange.attempt }
    private var call: Call { attempt.call }

    /// If the host's circuit breaker allows it, sends the request and reads the response.
    func run(_ permit: StreamPermit?) async throws -> HTTPResponse {
      var request = exchange.request
      var circuit: CircuitPermit?
      var response: HTTPResponse
      var phases: PhaseReport?
      var isCut = false
      var before: Sent?
      let progress = call.rules.progress.map {
        ProgressCounter(of: attempt.number, clock: call.manager.clock, notify: $0)
      }
      do {
        // After all waits, so that nothing is sent for a user who has signed out.
        if request.options.signers.contains(where: \.isClosed) { throw TaskError.forgotten }
        let breaker = call.snapshot.configuration.circuitBreaker
        if !breaker.isOff { circuit = try call.manager.circuits.permit(for: host, breaker) }
        // After waiting for a slot, so that no stale cookies are sent.
        call.renewCookies(of: &request, attempt.number)
        let request = try prepared(request, &isCut, &phases)
        let sending: Sent = request.options.mayRepeat ? .repeatable : .onceOnly(request.method)
        before = attempt.add(sending)  // first, because a step may not wait for the result
        if isFirst, attempt.number == 1, !call.plan.isRepetition { call.manager.retries.earn(for: host) }
        if let progress {
          response = try await progress.sending(request) { try await call.transport.send($0) }
        } else {
          response = try await call.transport.send(request)
        }
      } catch {
        throw failed(error, before, isCut: isCut, circuit, phases)
      }
      // Do this while holding the slot, so that the next request to the host sends these cookies.
      call.keepCookies(of: response, to: request)
      exchange.digest?.learn(from: response)
      response.note(request, sentBy: call.number)
      response.redirects = request.options.redirects
      note(response, circuit, isCut: isCut)
      response.checkMatch(with: request)
      if await call.takeIn(&response, method: request.method, progress, permit) { attempt.endExchange() }
      return response
    }

    // Not inlined, like the next two functions, because inlining would enlarge every call's stack.
    @inline(never)
    private func prepared(
      _ request: HTTPRequest, _ isCut: inout Bool, _ phases: inout PhaseReport?
    ) throws -> HTTPRequest {
      var request = request
      if let digest = exchange.digest, digest.sign(&request) { amend(request) }
      if let span = call.trace.span { add(span, to: &request) }
      if call.trace.isObserved || call.destination.isStream {
        let report = PhaseReport(self)
        request.options.onHead = { [weak attempt] timings in
          attempt?.note(timings)  // replaced at the end of the body
          report.report(timings)
        }
        attempt.note(nil)
        phases = report
      }
      call.limitStreams(of: &request)
      let mayRepeat = request.body.isReplayable && request.isRepeatable(call.plan.idempotency)
      if request.options.mayRepeat != mayRepeat { request.options.mayRepeat = mayRepeat }
      // A stream can be read for any length of time, so only the call's deadline applies.
      guard let remaining = call.remaining else { return request }
      guard remaining > .zero else { throw call.expired(.waiting) }
      guard !request.options.isLongLived else { return request }
      if let limit = request.options.timeouts.attempt, limit <= remaining { return request }
      request.options.timeouts.attempt = remaining
      isCut = true
      return request
    }

    /// Adds the trace context with this attempt as the parent span. Applies only to the remote and trusted origins and
    /// keeps an existing `traceparent`.
    private func add(_ span: CallSpan, to request: inout HTTPRequest) {
      guard call.snapshot.configuration.propagatesTraces, call.snapshot.isTrusted(request.url),
        !request.headers.contains(.traceparent)
      else { return }
      var context = span.context
      context.spanID = span.attempt(attempt.number)
      context.add(to: &request.headers)
      amend(request)
    }

    /// Records the request as sent, with its credentials and trace context.
    private func amend(_ request: HTTPRequest) {
      let number = attempt.number
      call.record { $0.amend(request, of: number) }
    }

    /// Ends an exchange that failed before its response's head arrived. Returns the error to throw.
    @inline(never)
    private func failed(
      _ error: any Error, _ before: Sent?, isCut: Bool, _ circuit: CircuitPermit?, _ phases: PhaseReport?
    ) -> any Error {
      let known = TaskError.ofTransfer(error) as? TaskError
      if let before, known?.wasNotSent == true { attempt.takeBack(before, since: start) }
      attempt.add(.nothing)
      attempt.endExchange()
      if let timings = known?.timings {
        phases?.report(timings)
        keepPhases(timings)
      }
      exchange.note(error, isDeadline: isDeadline(error, isCut: isCut))
      circuit?.end(verdict(error, isCut: isCut))
      return explained(error, isCut: isCut)
    }

    /// Records a response's head. The circuit breaker judges the response when the body ends.
    @inline(never)
    private func note(_ response: HTTPResponse, _ circuit: CircuitPermit?, isCut: Bool) {
      // The body may take hours, during which the circuit breaker would reject all other requests.
      circuit?.endProbe(response.status)
      if let circuit {
        response.body.onEnd { [self, status = response.status] ending, _ in circuit.end(verdict(status, ending)) }
      }
      if call.trace.keepsNotes {
        response.body.onEnd { [self] _, source in if let timings = source?.timings { keepPhases(timings) } }
      }
      if isCut { response.body.explainFailures { [self] in explained($0, isCut: true) } }
      call.trace.note(.responded(response.status, isConnectionReused: response.isConnectionReused))
      if call.isShown {
        let (number, now) = (attempt.number, call.trace.elapsed)
        call.record { $0.respond(response, to: number, at: now) }
      }
    }

    /// Adds the phases of a new connection to the trace span.
    private func keepPhases(_ timings: TransferTimings) {
      guard call.trace.keepsNotes else { return }
      let now = call.trace.elapsed
      for (moment, time) in CallMoment.phases(timings) {
        switch moment {
        case .connected, .secured: break
        default: continue  // not recorded in the span
        }
        let moment = call.trace.isHidden ? moment.withoutURL : moment
        call.trace.span?.note(
          CallSpan.Connection(attempt: attempt.number, time: min(start + time, now), moment: moment))
      }
    }
  }
}
