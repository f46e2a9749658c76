import ErrandFoundation

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
  /// The request before the steps of the call.
  private let built: HTTPRequest
  private let state = Lock(State())

  init(sharing call: Call, _ request: HTTPRequest, built: HTTPRequest) {
    self.call = Call(sharing: call)
    self.request = request
    self.built = built
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
      do { result = .success(try await call.sendShared(request, built: built)) } catch { result = .failure(error) }
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

extension Call {
  /// The call that sends a request for all who wait for it: which no hook is told of, and without the deadline of any.
  fileprivate convenience init(sharing call: Call) {
    var plan = call.plan.asInternal
    plan.tag = "errand.shared"  // who cancels the calls of a tag means those that wait
    plan.timeouts.call = .unlimited  // nil would be the server's
    self.init(plan, .memory, idempotencyKey: call.idempotencyKey)
    let headers = call.state.withLock { $0.serverHeaders }
    state.withLock { $0.serverHeaders = headers }
  }

  fileprivate func sendShared(_ request: HTTPRequest, built: HTTPRequest) async throws -> Outcome {
    try await run { call in
      try await call.throughCache(request) { asked in try await call.attempts(asked, built: built) }
    }
  }
}
