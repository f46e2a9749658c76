/// Named queues, each of which runs one call at a time, first come, first served.
final class SerialQueues: Sendable {
  private typealias Ticket = Admission.Ticket

  private struct State {
    var nextTicket = 0
    var lines: [String: WaitingLine] = [:]
    var waiters = TicketWaiters()
    var graph = WaitGraph()
  }

  private struct Holding {
    let queues: ObjectIdentifier
    let name: String
    /// Ends when the call leaves the queue. An unstructured task that the call started may outlive the call.
    let turn: Flag
  }

  private let state = Lock(State())

  /// The queues held by the surrounding call and its parent calls.
  @TaskLocal private static var held: [Holding] = []

  /// Runs `body` with exclusive access to `queue`, or immediately if `queue` is `.none`.
  ///
  /// Calls `onWait` when a wait begins and when it ends. Throws any error thrown by `body`, or `CancellationError` if
  /// cancelled while waiting. Throws ``TaskError`` with code `.reentrantQueue` if waiting would deadlock: the surrounding
  /// call already holds the queue, or the call that holds it waits for a queue that the surrounding call holds.
  @inline(__always)  // calls without a queue should not pay for this
  func withExclusiveAccess<Result>(
    _ queue: SerialQueue, onWait: (_ isOver: Bool, _ queue: String) -> Void = { _, _ in },
    body: () async throws -> Result
  ) async throws -> Result {
    guard let name = queue.name else { return try await body() }
    return try await waitForTurn(name, onWait, body)
  }

  private func waitForTurn<Result>(
    _ name: String, _ onWait: (_ isOver: Bool, _ queue: String) -> Void, _ body: () async throws -> Result
  ) async throws -> Result {
    try refuseIfHeld(name)
    let held = Self.heldNow.filter { $0.queues == ObjectIdentifier(self) }.map(\.name)
    if let ticket = try enter(name, holding: held) {
      onWait(false, name)
      defer {
        state.withLock { $0.graph.remove(held, waitingFor: name) }
        onWait(true, name)
      }
      try await wait(ticket, name)
    }
    let turn = Flag()
    defer {
      turn.end()
      leave(name)
    }
    let holding = Holding(queues: ObjectIdentifier(self), name: name, turn: turn)
    return try await Self.$held.withValue(Self.heldNow + [holding]) { try await body() }
  }

  /// Throws ``TaskError`` with code `.reentrantQueue` if the surrounding call already holds the queue.
  func refuseIfHeld(_ name: String) throws {
    guard Self.heldNow.contains(where: { $0.queues == ObjectIdentifier(self) && $0.name == name }) else { return }
    throw TaskError(
      .reentrantQueue,
      "waiting for the serial queue '\(name)' would deadlock because a surrounding call holds it: start this call with manager.start or Task.detached",
      phase: .waiting)
  }

  private static func deadlock(_ name: String, _ held: String) -> TaskError {
    TaskError(
      .reentrantQueue,
      "waiting for the serial queue '\(name)' would deadlock because the call that holds it waits for '\(held)', which a surrounding call holds: start this call with manager.start or Task.detached",
      phase: .waiting)
  }

  /// Runs `body`, which starts work that the surrounding call does not wait for. The work doesn't hold any of the
  /// call's queues.
  static func leavingHeld<Result>(_ body: () -> Result) -> Result {
    held.isEmpty ? body() : $held.withValue([], operation: body)
  }

  static var heldNames: Set<String> { held.isEmpty ? [] : Set(heldNow.lazy.map(\.name)) }

  private static var heldNow: [Holding] { held.isEmpty ? [] : held.filter { !$0.turn.hasEnded } }

  /// Enters a queue. Returns a ticket to wait with, or `nil` if the queue was free and is now held. Throws if waiting
  /// would deadlock, because the queue's holder waits for one of the queues in `held`.
  private func enter(_ name: String, holding held: [String]) throws -> Ticket? {
    try state.withLock { state in
      // Mutate in place: copying a queue is O(n).
      guard state.lines[name] != nil else {
        state.lines[name] = WaitingLine()
        return nil
      }
      if let other = held.first(where: { state.graph.waits(name, for: $0) }) { throw Self.deadlock(name, other) }
      state.graph.add(held, waitingFor: name)
      state.nextTicket += 1
      state.lines[name]?.append(state.nextTicket, since: .zero)
      return state.nextTicket
    }
  }

  private func wait(_ ticket: Ticket, _ name: String) async throws {
    let hasTurn = await answer { waiter in
      state.withLock { $0.waiters.keep(waiter, ticket) }
    } onCancel: {
      abandon(ticket, name)
    }
    guard hasTurn else { throw CancellationError() }
  }

  private func abandon(_ ticket: Ticket, _ name: String) {
    decide(false) { state in
      // A waiter that was already admitted isn't removed here. It leaves the queue on its own.
      state.lines[name]?.remove(ticket) == true ? ticket : nil
    }
  }

  private func leave(_ name: String) {
    decide(true) { state in
      guard let ticket = state.lines[name]?.first?.ticket else {
        state.lines[name] = nil
        return nil
      }
      state.lines[name]?.removeFirst()
      return ticket
    }
  }

  /// Resumes a waiter with `true` if it now holds the queue, or `false` if it was cancelled.
  private func decide(_ hasTurn: Bool, _ choose: (inout State) -> Ticket?) {
    let waiter = state.withLock { state in
      choose(&state).flatMap { state.waiters.decide($0, hasTurn: hasTurn) }
    }
    waiter?.resume(returning: hasTurn)
  }
}
