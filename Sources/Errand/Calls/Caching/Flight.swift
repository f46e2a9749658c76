import ErrandFoundation

/// A request in flight that several calls share. It ends when its response arrives or the last of these calls is
/// cancelled.
final class Flight: Sendable {
  private struct State {
    var lastID = 0
    var waiters: [Int: Waiter<AttemptResult>] = [:]
    var waiting = 0
    var result: AttemptResult?
  }

  let call: Call
  private let request: HTTPRequest
  private let node = WaitNode()
  private let state = Lock(State())

  init(sharing call: Call, _ request: HTTPRequest) {
    self.call = Call(sharing: call)
    self.request = request
  }

  /// Adds a call. Returns `false` if the flight has ended.
  func join() -> Bool {
    state.withLock { state in
      guard state.result == nil else { return false }
      state.waiting += 1
      return true
    }
  }

  func start(_ ended: @escaping @Sendable () -> Void) {
    Task { [self] in
      let result: AttemptResult
      do {
        result = .success(try await node.workAlone { try await call.sendShared(request) })
      } catch {
        result = .failure(error)
      }
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

  /// Waits for the result. If the surrounding task is cancelled, calls `leave` and returns a `CancellationError`. The wait
  /// can't deadlock, because calls share a request only if they belong to the same work.
  func outcome(onLeaving leave: @escaping @Sendable () -> Void) async -> AttemptResult {
    let waiting = node.beginWait()
    defer { waiting?.end() }
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

  /// Removes a call. Returns `true` if this was the last call, which ends the flight.
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
  /// Creates the internal call that sends the shared request. It doesn't call hooks and has no deadline.
  fileprivate convenience init(sharing call: Call) {
    var plan = call.plan.asInternal(.shared)
    plan.timeouts.call = .unlimited  // `nil` would inherit the server's limit
    self.init(plan, .memory, idempotencyKey: call.idempotencyKey)
    let headers = call.state.withLock { $0.serverHeaders }
    state.withLock { $0.serverHeaders = headers }
  }

  /// A retry resends the same request: the call that built it may have ended, so its hooks must not run again.
  fileprivate func sendShared(_ request: HTTPRequest) async throws -> Answer {
    try await run { call in
      try await call.throughCache(request) { asked, run in try await call.attempts(asked, run) { asked } }
    }
  }
}
