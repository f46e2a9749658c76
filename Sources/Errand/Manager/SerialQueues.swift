/// Named queues in which one task runs at a time, in the order in which they came.
final class SerialQueues: Sendable {
  private typealias Ticket = Admission.Ticket

  private struct State {
    var nextTicket = 0
    /// Who waits for the queues that somebody holds.
    var lines: [String: WaitingLine] = [:]
    var waiters: [Ticket: UnsafeContinuation<Bool, Never>] = [:]
    /// Tickets that were decided on before their owner began to wait: whose turn it is, or given up.
    var early: [Ticket: Bool] = [:]
  }

  private let state = Lock(State())

  /// The queues that the surrounding call holds.
  @TaskLocal private static var held: Set<String> = []

  /// Runs `body` alone in `queue`; at once where that is none.
  ///
  /// - Parameters:
  ///   - queue: The queue to wait in.
  ///   - body: What to run.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, `CancellationError` when cancelled while waiting, and ``TaskError`` with code
  ///   `.reentrantQueue` where the surrounding call holds the queue already and would wait for itself.
  @inline(__always)  // or every call would pay for a queue that most have not
  func withTurn<Result>(_ queue: SerialQueue, _ body: () async throws -> Result) async throws -> Result {
    guard let name = queue.name else { return try await body() }
    return try await waitForTurn(name, body)
  }

  private func waitForTurn<Result>(_ name: String, _ body: () async throws -> Result) async throws -> Result {
    guard !Self.held.contains(name) else {
      throw TaskError(
        .reentrantQueue, "the serial queue '\(name)' is held by the call that asks for it: it would wait for itself",
        phase: .waiting)
    }
    if let ticket = enter(name) { try await wait(ticket, name) }
    defer { leave(name) }
    return try await Self.$held.withValue(Self.held.union([name])) { try await body() }
  }

  /// A place in line; nil where nobody holds the queue, which is then the caller's.
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
    let hasTurn = await withTaskCancellationHandler {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Bool, Never>) in
        let answer = state.withLock { state -> Bool? in
          if let early = state.early.removeValue(forKey: ticket) { return early }
          state.waiters[ticket] = continuation
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      abandon(ticket, name)
    }
    guard hasTurn else { throw CancellationError() }
  }

  private func abandon(_ ticket: Ticket, _ name: String) {
    decide(false) { state in
      // Nobody who has the turn already: it is theirs to give back.
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

  /// Tells somebody whether it is their turn.
  private func decide(_ hasTurn: Bool, _ choose: (inout State) -> Ticket?) {
    let continuation = state.withLock { state -> UnsafeContinuation<Bool, Never>? in
      guard let ticket = choose(&state) else { return nil }
      if let waiter = state.waiters.removeValue(forKey: ticket) { return waiter }
      state.early[ticket] = hasTurn
      return nil
    }
    continuation?.resume(returning: hasTurn)
  }
}
