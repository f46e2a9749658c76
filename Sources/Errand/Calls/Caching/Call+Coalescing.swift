import ErrandFoundation

extension Call {
  /// 5. One request for all calls that send the same at the same time, where the server wants that.
  @inline(__always)
  func coalesced(_ request: HTTPRequest, _ send: @escaping CacheRun.Attempts) async throws -> Outcome {
    guard surroundings?.coalesces == true, request.method.isSafe, request.body.isEmpty else {
      return try await send(request)
    }
    return try await joined(request)
  }

  private func joined(_ request: HTTPRequest) async throws -> Outcome {
    let key = FlightKey(request, of: plan)
    let (flight, isFirst) = manager.flights.join(key) { Flight(sharing: self, request) }
    Attempt.releaseSurrounding()  // the shared call may wait for their slots
    trace.note(.joined(call: flight.call.number))
    let result = await flight.outcome { [manager] in manager.flights.leave(key, flight) }
    let shared = flight.call.state.withLock { ($0.method, $0.url, $0.wasPerhapsSent, $0.unaskedPart) }
    state.withLock { ($0.method, $0.url, $0.wasPerhapsSent, $0.unaskedPart) = shared }
    return own(try result.get(), isFirst: isFirst)
  }

  /// The outcome of a shared call as one of this call.
  private func own(_ shared: Outcome, isFirst: Bool) -> Outcome {
    var response = shared.response
    response.body = HTTPResponseBody(shared.data, trailers: shared.response.body.trailers)
    response.maker = nil
    if !isFirst, let status = response.headers.values(for: .cacheStatus).last {
      response.headers.replaceLast(.cacheStatus, with: status + "; collapsed")
    }
    var outcome = Outcome(self, response, isRead: true)
    outcome.data = shared.data
    outcome.size = shared.size
    return outcome
  }

  /// The call that sends a request for all who wait for it: without hooks of its own, and without the deadline of any.
  fileprivate convenience init(sharing call: Call) {
    var plan = call.plan
    plan.task = UnseenTask(base: plan.task)
    plan.tag = "errand.shared"  // who cancels the calls of a tag means those that wait
    plan.timeouts.call = .unlimited  // nil would be the server's
    plan.serialQueue = .none
    plan.control = nil
    self.init(plan, .memory)
    let headers = call.state.withLock { $0.serverHeaders }
    state.withLock { $0.serverHeaders = headers }
  }

  fileprivate func sendShared(_ request: HTTPRequest) async throws -> Outcome {
    try await run { call in
      try await call.throughCache(request) { asked in try await call.attempts(asked, built: request) }
    }
  }
}

extension TaskPlan {
  /// True where the rules that the exchange depends on are the server's, so that another call's response is the same.
  var keepsToServer: Bool {
    acceptedStatuses.isInherited && retryPolicy.isInherited && redirectPolicy.kind == .inherited
      && addressPolicy.isInherited && cookiePolicy.isInherited
  }
}

/// The identity of a request: those with the same one share a flight.
struct FlightKey: Hashable, Sendable {
  private let server: ObjectIdentifier
  private let method: String
  let url: String
  private let headers: HTTPHeaders
  private let unpacks: Bool
  private let account: String?
  private let digest: Credential?
  private let choosesAddresses: Bool
  private let timeouts: Timeouts
  private let policy: CachePolicy

  init(_ request: HTTPRequest, of plan: TaskPlan) {
    server = ObjectIdentifier(plan.server)
    method = request.method.rawValue
    url = CacheKey.text(of: request.url.absoluteString)
    headers = request.headers
    unpacks = request.options.decodesBody
    account = request.options.account
    digest = request.options.digest
    choosesAddresses = !request.options.addressPolicy.allowsAll
    var timeouts = request.options.timeouts
    timeouts.call = nil  // a deadline is each call's own
    self.timeouts = timeouts
    policy = plan.cachePolicy
  }
}

/// A request in flight that several calls wait for. It ends with its response, or when the last of them is cancelled.
final class Flight: Sendable {
  private struct State {
    var lastID = 0
    var waiters: [Int: Waiter<AttemptResult>] = [:]
    var waiting = 0
    var result: AttemptResult?
  }

  let call: Call
  private let request: HTTPRequest
  private let state = Lock(State())

  fileprivate init(sharing call: Call, _ request: HTTPRequest) {
    self.call = Call(sharing: call)
    self.request = request
  }

  /// Counts one more call; false where none can join any more.
  func join() -> Bool {
    state.withLock { state in
      guard state.result == nil else { return false }
      state.waiting += 1
      return true
    }
  }

  /// Sends the request, for all.
  func start(_ ended: @escaping @Sendable () -> Void) {
    Task { [self] in
      let result: AttemptResult
      do { result = .success(try await call.sendShared(request)) } catch { result = .failure(error) }
      ended()
      end(result)
    }
  }

  private func end(_ result: AttemptResult) {
    let waiters = state.withLock { state in
      state.result = state.result ?? result
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter.resume(returning: result) }
  }

  /// The outcome; a call that is cancelled gets its own error, and `leave` is called.
  func outcome(onLeaving leave: @escaping @Sendable () -> Void) async -> AttemptResult {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    return await answer { waiter in
      state.withLock { state in
        if Task.isCancelled { return .failure(CancellationError()) }
        if state.result == nil { state.waiters[id] = waiter }
        return state.result
      }
    } onCancel: {
      leave()
      state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(returning: .failure(CancellationError()))
    }
  }

  /// Counts one call less; true where it was the last, and none may join any more.
  func left() -> Bool {
    state.withLock { state in
      state.waiting -= 1
      guard state.waiting == 0, state.result == nil else { return false }
      state.result = .failure(CancellationError())
      return true
    }
  }
}

/// The requests in flight that may be joined.
final class FlightDesk: Sendable {
  private let flights = Lock<[FlightKey: Flight]>([:])

  /// The flight for a request: the one under way, or a new one, which starts.
  func join(_ key: FlightKey, _ make: () -> Flight) -> (flight: Flight, isFirst: Bool) {
    if let flight = flights.withLock({ $0[key] }), flight.join() { return (flight, false) }
    let new = make()
    _ = new.join()
    let (flight, isFirst) = flights.withLock { flights in
      // Another call may have begun one meanwhile.
      if let flight = flights[key], flight.join() { return (flight, false) }
      flights[key] = new
      return (new, true)
    }
    if isFirst { flight.start { [self] in remove(key, flight) } }
    return (flight, isFirst)
  }

  /// A call is cancelled: the last one ends the flight.
  func leave(_ key: FlightKey, _ flight: Flight) {
    guard flight.left() else { return }
    remove(key, flight)
    flight.call.cancel()
  }

  /// No further call joins the flights for a URL: what they bring may be older than a change that has ended. Those who wait
  /// for one keep it.
  func close(_ url: String) {
    flights.withLock { flights in
      guard !flights.isEmpty else { return }
      for key in flights.keys where key.url == url { flights[key] = nil }
    }
  }

  private func remove(_ key: FlightKey, _ flight: Flight) {
    flights.withLock { if $0[key] === flight { $0[key] = nil } }
  }
}
