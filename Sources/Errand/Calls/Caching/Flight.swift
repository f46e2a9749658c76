import ErrandFoundation

/// A request in flight that several calls share. It ends when its response arrives or the last of these calls is
/// cancelled.
final class Flight: Sendable {
  /// A call's membership. Its wait for the flight began before the flight started, so the flight can't wait for the call.
  struct Seat: Sendable {
    let flight: Flight
    fileprivate let id: Int
    fileprivate let wait: WaitNode.Wait
  }

  private struct Member {
    /// The time that the call has left, `nil` without a limit.
    let remaining: @Sendable () -> Duration?
    var waiter: Waiter<AttemptResult>?
  }

  private struct State {
    var lastID = 0
    var members: [Int: Member] = [:]
    var result: AttemptResult?
  }

  private final class Members: Sendable {
    let state = Lock(State())

    /// The longest time that one of the calls has left, or `nil` if one has no limit.
    var longestRemaining: Duration? { .longest(of: state.withLock { $0.members.values.map(\.remaining) }) }
  }

  let call: Call
  private let request: HTTPRequest
  private let node = WaitNode()
  private let members: Members

  init(sharing call: Call, _ request: HTTPRequest) {
    let members = Members()
    self.members = members
    // Weak, because the result that the members hold refers to this call. The flight's own task retains them.
    self.call = Call(sharing: call) { [weak members] in members?.longestRemaining }
    self.request = request
  }

  /// Adds a call. Returns `nil` if the flight has ended, or if it waits for the call.
  func join(_ remaining: @escaping @Sendable () -> Duration?) -> Seat? {
    guard let wait = node.beginWait() else { return nil }
    let id = members.state.withLock { state -> Int? in
      guard state.result == nil else { return nil }
      state.lastID += 1
      state.members[state.lastID] = Member(remaining: remaining)
      return state.lastID
    }
    guard let id else {
      wait.end()
      return nil
    }
    return Seat(flight: self, id: id, wait: wait)
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
    let waiters = members.state.withLock { state in
      state.result = state.result ?? result
      defer { state.members = [:] }
      return state.members.values.compactMap(\.waiter)
    }
    for waiter in waiters { waiter.resume(returning: result) }
  }

  /// Waits for the result. If the surrounding task is cancelled, calls `leave` and returns a `CancellationError`.
  fileprivate func outcome(for seat: Seat, onLeaving leave: @escaping @Sendable () -> Void) async -> AttemptResult {
    defer { seat.wait.end() }
    return await answer { waiter in
      members.state.withLock { state in
        if let result = state.result { return result }
        guard state.members[seat.id] != nil else { return .failure(CancellationError()) }
        state.members[seat.id]?.waiter = waiter
        return nil
      }
    } onCancel: {
      leave()
    }
  }

  /// Removes a call and ends its wait with a `CancellationError`. Returns `true` if this was the last call, which ends
  /// the flight.
  fileprivate func remove(_ seat: Seat) -> Bool {
    let (waiter, isLast) = members.state.withLock { state -> (Waiter<AttemptResult>?, Bool) in
      guard let member = state.members.removeValue(forKey: seat.id) else { return (nil, false) }
      let isLast = state.members.isEmpty && state.result == nil
      if isLast { state.result = .failure(CancellationError()) }
      return (member.waiter, isLast)
    }
    waiter?.resume(returning: .failure(CancellationError()))
    return isLast
  }
}

extension Flight.Seat {
  /// Waits for the result. If the surrounding task is cancelled, calls `leave` and returns a `CancellationError`.
  func outcome(onLeaving leave: @escaping @Sendable () -> Void) async -> AttemptResult {
    await flight.outcome(for: self, onLeaving: leave)
  }

  /// Leaves the flight. Returns `true` if this was the last call, which ends the flight.
  func left() -> Bool { flight.remove(self) }
}

extension Call {
  /// Creates the internal call that sends the shared request. It doesn't call hooks and has no deadline.
  fileprivate convenience init(sharing call: Call, remaining: @escaping @Sendable () -> Duration?) {
    var plan = call.plan.asInternal(.shared(waiters: remaining))
    plan.timeouts.call = .unlimited  // `nil` would inherit the server's limit
    plan.keep(call.snapshot, call.ownAuthentication)
    self.init(plan, .memory)
    let headers = call.state.withLock { $0.serverHeaders }
    state.withLock { $0.serverHeaders = headers }
  }

  /// A retry resends the same request: the call that built it may have ended, so its hooks must not run again.
  fileprivate func sendShared(_ request: HTTPRequest) async throws -> Outcome {
    try await run { call in
      try await call.throughCache(request) { asked, run in try await call.attempts(asked, run) { asked } }
    }
  }
}
