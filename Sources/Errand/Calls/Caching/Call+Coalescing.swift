import ErrandFoundation

extension Call {
  /// Sends a single request for all concurrent identical calls, if the server's configuration enables that.
  func coalesced(
    _ request: HTTPRequest, _ send: (HTTPRequest) async throws -> Outcome
  ) async throws -> Outcome {
    guard rules.coalesces, request.method.isSafe, request.body.isEmpty else {
      return try await send(request)
    }
    return try await shared(request, send)
  }

  @inline(never)  // inlining would enlarge the stack of every call that is not shared
  private func shared(
    _ request: HTTPRequest, _ send: (HTTPRequest) async throws -> Outcome
  ) async throws -> Outcome {
    try checkCancellation()
    let key = FlightKey(request, of: self)
    let member = manager.flights.join(key, remaining: { [self] in remaining }) { Flight(sharing: self, request) }
    guard let (seat, isFirst) = member else { return try await send(request) }
    let flight = seat.flight
    let joined = trace.note(.joined(call: flight.call.number))
    let start = joined - flight.call.trace.elapsed
    let result = await seat.outcome { [manager] in manager.flights.leave(key, seat) }
    let shared = flight.call.state.withLock { $0 }
    let isOver = shared.life.isOver
    state.withLock { state in
      state.shown = shared.shown ?? state.shown
      // The shared request may be on its way when a call stops waiting for it.
      state.sent.add(isOver ? shared.sent : .repeatable)
      state.refusal = shared.refusal
      state.shared.append(flight.call.trace.flightRecord.inner(since: start, notBefore: joined))
    }
    return own(try result.get(), isFirst: isFirst)
  }

  private func own(_ shared: Outcome, isFirst: Bool) -> Outcome {
    var response = shared.response
    let body = shared.response.body
    response.body =
      body.source is Excerpt
      ? Excerpt.body(shared.data, of: body) : HTTPResponseBody(shared.data, trailers: body.trailers)
    response.call = nil
    if !isFirst, var status = response.cacheStatus {
      status.isCollapsed = true
      response.note(status)
    }
    return Outcome(self, response, .memory(shared.data))
  }
}

extension TaskPlan {
  /// Whether the call uses the server's values for all settings that affect the exchange. Such a call can share another
  /// call's response. The context must be empty, because steps may change the request based on it.
  var keepsToServer: Bool {
    acceptedStatuses.isInherited && retryPolicy.isInherited && redirectPolicy.kind == .inherited
      && addressPolicy.isInherited && cookiePolicy.isInherited && context.isEmpty && preloaded == nil
  }
}
