/// Queues with names. Each runs one call at a time, first come, first served.
final class SerialQueues: Sendable {
  /// A place in a queue. Its call waits for its turn, has its turn, or has left the queue.
  struct Place: Sendable {
    let queue: String
    fileprivate let ticket: Admission.Ticket
    /// The work of the call while it has its turn.
    fileprivate let turn = WaitNode()
  }

  private enum Standing { case turn, line, left }

  private struct Waiting {
    let place: Place
    let wait: WaitNode.Wait
    var waiter: Waiter<Bool>?
  }

  private struct Queue {
    /// Waits for the turn of the call that holds the queue.
    let node = WaitNode()
    private(set) var holder: Place
    private var line = WaitingLine()
    /// The calls in line.
    private var waiting: [Admission.Ticket: Waiting] = [:]

    init(holder: Place) {
      self.holder = holder
      node.wait(for: holder.turn)
    }

    func standing(_ place: Place) -> Standing {
      if holder.ticket == place.ticket { return .turn }
      return waiting[place.ticket] == nil ? .left : .line
    }

    mutating func append(_ place: Place, _ wait: WaitNode.Wait) {
      line.append(place.ticket, since: .zero)
      waiting[place.ticket] = Waiting(place: place, wait: wait)
    }

    mutating func keep(_ waiter: Waiter<Bool>, _ place: Place) { waiting[place.ticket]?.waiter = waiter }

    /// Removes a call from the line. Returns its waiter.
    mutating func giveUp(_ place: Place) -> Waiter<Bool>? {
      guard line.remove(place.ticket), let waiting = waiting.removeValue(forKey: place.ticket) else { return nil }
      waiting.wait.end()
      return waiting.waiter
    }

    /// Ends the holder's turn and passes it to the first call in line. Returns `false` if the line is empty.
    mutating func advance(_ next: inout Waiter<Bool>?) -> Bool {
      node.stopWaiting(for: holder.turn)
      guard let first = line.first?.ticket, let waiting = waiting.removeValue(forKey: first) else { return false }
      line.removeFirst()
      waiting.wait.end()
      holder = waiting.place
      node.wait(for: holder.turn)
      next = waiting.waiter
      return true
    }
  }

  private static let lastTicket = Lock(0)

  /// Tickets are unique across all managers, so a place in one manager's queue is not valid in another's.
  private static func nextTicket() -> Admission.Ticket {
    lastTicket.withLock { ticket in
      ticket += 1
      return ticket
    }
  }

  private let queues = Lock<[String: Queue]>([:])

  /// Runs `body` with exclusive access to `queue`, or immediately if `queue` is `.none`.
  ///
  /// Calls `onWait` when a wait begins and when it ends. Throws any error thrown by `body`, or `CancellationError` if
  /// cancelled while waiting. Throws ``TaskError`` with code `.reentrantQueue` if waiting would deadlock, because the
  /// call that holds the queue is the surrounding call or waits for it.
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
    if standing(place) != .turn {
      onWait(false, place.queue)
      defer { onWait(true, place.queue) }
      try await wait(place)
    }
    return try await place.turn.work(body)
  }

  // MARK: Places

  /// Enters the queue for a call that runs in another Swift task later. Returns `nil` for `.none`, or if waiting
  /// would deadlock. In the second case, the call enters the queue itself and throws the error.
  func reserve(_ queue: SerialQueue, as work: [WaitNode] = WaitNode.current) -> Place? {
    queue.name.flatMap { try? enter($0, as: work) }
  }

  /// Enters a queue as the last call in line. The place keeps the order of calls that run in other Swift tasks later. Call
  /// ``leave(_:)`` when the call has ended.
  ///
  /// - Parameters:
  ///   - name: The queue.
  ///   - work: The work that waits for the place.
  func enter(_ name: String, as work: [WaitNode] = WaitNode.current) throws -> Place {
    try queues.withLock { queues in
      // In the lock, because the tickets in a line must be in order.
      let place = Place(queue: name, ticket: Self.nextTicket())
      // Mutate in place: copying a queue is O(n).
      guard let node = queues[name]?.node else {
        queues[name] = Queue(holder: place)
        return place
      }
      guard let wait = node.beginWait(of: work) else {
        throw TaskError(
          .reentrantQueue,
          "waiting for the serial queue '\(name)' would deadlock because the call that holds it waits for this call: start this call with manager.start or Task.detached, and don't await it",
          phase: .queueing)
      }
      queues[name]?.append(place, wait)
      return place
    }
  }

  /// Leaves the queue: gives up the turn or the place in line. Does nothing after the first time.
  func leave(_ place: Place) {
    let (waiter, isNext) = queues.withLock { queues -> (Waiter<Bool>?, Bool) in
      guard queues[place.queue]?.standing(place) == .turn else { return (queues[place.queue]?.giveUp(place), false) }
      var next: Waiter<Bool>?
      if queues[place.queue]?.advance(&next) != true { queues[place.queue] = nil }
      return (next, true)
    }
    waiter?.resume(returning: isNext)
  }

  /// Returns `place` if it is still a place in the queue, or a new place.
  private func placeIn(_ name: String, _ place: Place?) throws -> Place {
    if let place, place.queue == name, standing(place) != .left { return place }
    return try enter(name)
  }

  private func standing(_ place: Place) -> Standing { queues.withLock { $0[place.queue]?.standing(place) ?? .left } }

  private func wait(_ place: Place) async throws {
    let hasTurn = await answer { waiter in
      queues.withLock { queues -> Bool? in
        switch queues[place.queue]?.standing(place) ?? .left {
        case .turn: return true
        case .left: return false
        case .line:
          queues[place.queue]?.keep(waiter, place)
          return nil
        }
      }
    } onCancel: {
      // A call that already has its turn leaves the queue on its own.
      queues.withLock { $0[place.queue]?.giveUp(place) }?.resume(returning: false)
    }
    guard hasTurn else { throw CancellationError() }
  }
}
