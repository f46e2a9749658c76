/// Named queues in which one task runs at a time, in the order in which they came.
final class SerialQueues: Sendable {
  private typealias Ticket = Admission.Ticket

  private struct State {
    var nextTicket = 0
    /// The waiters for the queues that are held.
    var lines: [String: WaitingLine] = [:]
    var waiters = TicketWaiters()
  }

  /// A queue that a call holds, and the Swift task in which it does. A task of the app's that the call started inherits
  /// this, but nothing waits for it: it may wait its turn.
  fileprivate struct Holding {
    let queues: ObjectIdentifier
    let name: String
    let task: Int?
    /// Ends as the call leaves the queue: the number of a Swift task that has ended may be given to another.
    let turn: EndFlag

    func held(by task: Int?) -> Holding { Holding(queues: queues, name: name, task: task, turn: turn) }
  }

  private let state = Lock(State())

  /// The queues that are held by the surrounding call, and by those that it is part of.
  @TaskLocal private static var held: [Holding] = []

  /// Runs `body` alone in `queue`; at once where that is none.
  ///
  /// - Parameters:
  ///   - queue: The queue to wait in.
  ///   - onWait: Is told when a wait begins, and when it is over.
  ///   - body: What to run.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, `CancellationError` when cancelled while waiting, and ``TaskError`` with code
  ///   `.reentrantQueue` where the surrounding call holds the queue already and would wait for itself.
  @inline(__always)  // or every call would pay for a queue that most have not
  func withTurn<Result>(
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
    if let ticket = enter(name) {
      onWait(false, name)
      defer { onWait(true, name) }
      try await wait(ticket, name)
    }
    let turn = EndFlag()
    defer {
      turn.end()
      leave(name)
    }
    let holding = Holding(queues: ObjectIdentifier(self), name: name, task: Self.currentTask, turn: turn)
    return try await Self.$held.withValue(Self.heldHere + [holding]) { try await body() }
  }

  /// Throws ``TaskError`` with code `.reentrantQueue` where the surrounding Swift task holds the queue.
  func refuseIfHeld(_ name: String) throws {
    guard Self.heldHere.contains(where: { $0.queues == ObjectIdentifier(self) && $0.name == name }) else { return }
    throw TaskError(
      .reentrantQueue, "the serial queue '\(name)' is held by the call that asks for it: it would wait for itself",
      phase: .waiting)
  }

  /// `body` for a Swift task that the surrounding one waits for: what this one holds, that one holds too.
  static func joined<Result>(
    _ body: @escaping @Sendable () async throws -> Result
  ) -> @Sendable () async throws -> Result {
    guard !held.isEmpty else { return body }
    let queues = heldHere
    return {
      let task = currentTask
      return try await $held.withValue(queues.map { $0.held(by: task) }) { try await body() }
    }
  }

  /// The turns that the surrounding Swift task holds, for those that run tasks which it waits for, one apart from another.
  struct Held: Sendable {
    fileprivate let holdings: [Holding]

    /// Runs `body` in a Swift task that holds this too.
    func holding<Result>(_ body: () async throws -> Result) async rethrows -> Result {
      guard !holdings.isEmpty else { return try await body() }
      let task = currentTask
      return try await $held.withValue(holdings.map { $0.held(by: task) }) { try await body() }
    }
  }

  /// The turns that the surrounding Swift task holds.
  static var heldByTask: Held { Held(holdings: heldHere) }

  /// The names of the queues that the surrounding call holds, and those that it is part of.
  static var heldNames: Set<String> {
    held.isEmpty ? [] : Set(held.lazy.filter { !$0.turn.hasEnded }.map(\.name))
  }

  private static var heldHere: [Holding] {
    guard !held.isEmpty else { return [] }
    let task = currentTask
    return held.filter { $0.task == task && !$0.turn.hasEnded }
  }

  private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }

  /// A place in line; nil where the queue is free, which is then the caller's.
  private func enter(_ name: String) -> Ticket? {
    state.withLock { state in
      // In place throughout: a copy of a line would cost as much as it is long.
      guard state.lines[name] != nil else {
        state.lines[name] = WaitingLine()
        return nil
      }
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
      // A waiter that has the turn already is not removed: the turn is its own to give back.
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

  /// Tells a waiter whether it has the turn.
  private func decide(_ hasTurn: Bool, _ choose: (inout State) -> Ticket?) {
    let waiter = state.withLock { state in
      choose(&state).flatMap { state.waiters.decide($0, hasTurn: hasTurn) }
    }
    waiter?.resume(returning: hasTurn)
  }
}
