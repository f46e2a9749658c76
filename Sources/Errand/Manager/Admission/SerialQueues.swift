/// Named queues, each of which runs one call at a time, first come, first served.
final class SerialQueues: Sendable {
  /// A place in a queue. Its call waits for its turn, has its turn, or has left the queue.
  struct Place: Sendable {
    let queue: String
    fileprivate let ticket: Admission.Ticket
    fileprivate let node: WaitNode
  }

  private struct Waiting {
    let wait: WaitNode.Wait
    var waiter: Waiter<Bool>?
  }

  private struct Queue {
    /// Waits for the turn of the call that holds the queue.
    let node = WaitNode()
    var holder: Admission.Ticket
    var line = WaitingLine()
    /// The calls in line.
    var waiting: [Admission.Ticket: Waiting] = [:]

    init(holder: Admission.Ticket) { self.holder = holder }

    /// Removes a call from the line. Returns its waiter.
    mutating func giveUp(_ ticket: Admission.Ticket) -> Waiter<Bool>? {
      guard line.remove(ticket) else { return nil }
      return end(ticket)
    }

    private mutating func end(_ ticket: Admission.Ticket) -> Waiter<Bool>? {
      let waiting = waiting.removeValue(forKey: ticket)
      waiting?.wait.end()
      return waiting?.waiter
    }

    /// Passes the turn to the first call in line and returns its waiter, or returns `nil` if the line is empty.
    mutating func advance() -> Waiter<Bool>?? {
      guard let next = line.first?.ticket else { return nil }
      line.removeFirst()
      holder = next
      return .some(end(next))
    }
  }

  private struct State {
    var lastTicket = 0
    var queues: [String: Queue] = [:]
  }

  private let state = Lock(State())

  /// Runs `body` with exclusive access to `queue`, or immediately if `queue` is `.none`.
  ///
  /// Calls `onWait` when a wait begins and when it ends. Throws any error thrown by `body`, or `CancellationError` if
  /// cancelled while waiting. Throws ``TaskError`` with code `.reentrantQueue` if it would wait forever, because the call
  /// that holds the queue waits for the surrounding call, or is that call.
  @inline(__always)  // calls without a queue should not pay for this
  func withExclusiveAccess<Result>(
    _ queue: SerialQueue, from place: Place? = nil,
    onWait: (_ isOver: Bool, _ queue: String) -> Void = { _, _ in }, body: () async throws -> Result
  ) async throws -> Result {
    guard let name = queue.name else { return try await body() }
    return try await waitForTurn(try placeIn(name, place), onWait, body)
  }

  private func waitForTurn<Result>(
    _ place: Place, _ onWait: (_ isOver: Bool, _ queue: String) -> Void, _ body: () async throws -> Result
  ) async throws -> Result {
    defer { leave(place) }
    if !hasTurn(place) {
      onWait(false, place.queue)
      defer { onWait(true, place.queue) }
      try await wait(place)
    }
    let turn = WaitNode()
    place.node.wait(for: turn)
    defer { place.node.stopWaiting(for: turn) }
    return try await turn.work(body)
  }

  // MARK: Places

  /// Enters a queue as the last call in line. The place keeps the order of calls that run in other Swift tasks later.
  /// Call ``leave(_:)`` when the call has ended.
  ///
  /// - Parameters:
  ///   - name: The queue.
  ///   - work: The work that waits for the place.
  func enter(_ name: String, as work: [WaitNode] = WaitNode.current) throws -> Place {
    try state.withLock { state in
      state.lastTicket += 1
      let ticket = state.lastTicket
      // Mutate in place: copying a queue is O(n).
      guard let node = state.queues[name]?.node else {
        let queue = Queue(holder: ticket)
        state.queues[name] = queue
        return Place(queue: name, ticket: ticket, node: queue.node)
      }
      guard let wait = node.beginWait(of: work) else {
        throw TaskError(
          .reentrantQueue,
          "waiting for the serial queue '\(name)' would deadlock because the call that holds it waits for this call: start this call with manager.start or Task.detached, and don't await it",
          phase: .queueing)
      }
      state.queues[name]?.line.append(ticket, since: .zero)
      state.queues[name]?.waiting[ticket] = Waiting(wait: wait)
      return Place(queue: name, ticket: ticket, node: node)
    }
  }

  /// Leaves the queue: gives up the turn or the place in line. Does nothing after the first time.
  func leave(_ place: Place) {
    let (waiter, isNext) = state.withLock { state -> (Waiter<Bool>?, Bool) in
      guard state.queues[place.queue]?.holder == place.ticket else {
        return (state.queues[place.queue]?.giveUp(place.ticket), false)
      }
      if let waiter = state.queues[place.queue]?.advance() { return (waiter, true) }
      state.queues[place.queue] = nil
      return (nil, false)
    }
    waiter?.resume(returning: isNext)
  }

  /// Returns `place` if it is still a place in the queue, or a new place.
  private func placeIn(_ name: String, _ place: Place?) throws -> Place {
    if let place, place.queue == name, hasTurn(place) || isInLine(place) { return place }
    return try enter(name)
  }

  private func hasTurn(_ place: Place) -> Bool {
    state.withLock { $0.queues[place.queue]?.holder == place.ticket }
  }

  private func isInLine(_ place: Place) -> Bool {
    state.withLock { $0.queues[place.queue]?.waiting[place.ticket] != nil }
  }

  private func wait(_ place: Place) async throws {
    let hasTurn = await answer { waiter in
      state.withLock { state -> Bool? in
        if state.queues[place.queue]?.holder == place.ticket { return true }
        guard state.queues[place.queue]?.waiting[place.ticket] != nil else { return false }
        state.queues[place.queue]?.waiting[place.ticket]?.waiter = waiter
        return nil
      }
    } onCancel: {
      // A call that already has its turn leaves the queue on its own.
      state.withLock { $0.queues[place.queue]?.giveUp(place.ticket) }?.resume(returning: false)
    }
    guard hasTurn else { throw CancellationError() }
  }
}
