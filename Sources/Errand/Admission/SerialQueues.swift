/// Named queues, each of which runs one call at a time, first come, first served.
final class SerialQueues: Sendable {
  private typealias Ticket = Admission.Ticket

  private struct Queue {
    var line = WaitingLine()
    /// Waits for the turn of the call that holds the queue.
    let node = WaitNode()
  }

  private struct State {
    var nextTicket = 0
    var queues: [String: Queue] = [:]
    var waiters = TicketWaiters()
  }

  private let state = Lock(State())

  /// Runs `body` with exclusive access to `queue`, or immediately if `queue` is `.none`.
  ///
  /// Calls `onWait` when a wait begins and when it ends. Throws any error thrown by `body`, or `CancellationError` if
  /// cancelled while waiting. Throws ``TaskError`` with code `.reentrantQueue` if it would wait forever, because the call
  /// that holds the queue waits for the surrounding call, or is that call.
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
    let (node, place) = try enter(name)
    if let (ticket, waiting) = place {
      onWait(false, name)
      defer {
        waiting.end()
        onWait(true, name)
      }
      try await wait(ticket, name)
    }
    let turn = WaitNode()
    node.wait(for: turn)
    defer {
      node.stopWaiting(for: turn)
      leave(name)
    }
    return try await turn.work(body)
  }

  /// Enters a queue. Returns its node and a ticket to wait with, or no ticket if the queue was free and is now held.
  /// Throws if waiting would deadlock.
  private func enter(_ name: String) throws -> (WaitNode, (Ticket, WaitNode.Wait)?) {
    try state.withLock { state in
      // Mutate in place: copying a queue is O(n).
      guard let node = state.queues[name]?.node else {
        let queue = Queue()
        state.queues[name] = queue
        return (queue.node, nil)
      }
      guard let waiting = node.beginWait() else {
        throw TaskError(
          .reentrantQueue,
          "waiting for the serial queue '\(name)' would deadlock because the call that holds it waits for this call: start this call with manager.start or Task.detached, and don't await it",
          phase: .waiting)
      }
      state.nextTicket += 1
      state.queues[name]?.line.append(state.nextTicket, since: .zero)
      return (node, (state.nextTicket, waiting))
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
      state.queues[name]?.line.remove(ticket) == true ? ticket : nil
    }
  }

  private func leave(_ name: String) {
    decide(true) { state in
      guard let ticket = state.queues[name]?.line.first?.ticket else {
        state.queues[name] = nil
        return nil
      }
      state.queues[name]?.line.removeFirst()
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
