/// Named queues in which one task runs at a time, in the order in which they came.
final class SerialQueues: Sendable {
  private struct Line {
    var waiters: [(ticket: Int, continuation: UnsafeContinuation<Bool, Never>)] = []
  }

  private struct State {
    var nextTicket = 0
    /// The queues that somebody holds.
    var lines: [String: Line] = [:]
    var abandoned: Set<Int> = []
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
    try await enter(name)
    defer { leave(name) }
    return try await Self.$held.withValue(Self.held.union([name])) { try await body() }
  }

  private func enter(_ name: String) async throws {
    let ticket = state.withLock { state -> Int? in
      guard state.lines[name] != nil else {
        state.lines[name] = Line()
        return nil
      }
      state.nextTicket += 1
      return state.nextTicket
    }
    guard let ticket else { return }
    let hasTurn = await withTaskCancellationHandler {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Bool, Never>) in
        let answer = state.withLock { state -> Bool? in
          if state.abandoned.remove(ticket) != nil { return false }
          // Whoever held the queue may have left since.
          guard state.lines[name] != nil else {
            state.lines[name] = Line()
            return true
          }
          state.lines[name]?.waiters.append((ticket, continuation))
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      abandon(ticket, name)
    }
    state.withLock { state in _ = state.abandoned.remove(ticket) }  // a cancel that came after the turn
    guard hasTurn else { throw CancellationError() }
  }

  private func abandon(_ ticket: Int, _ name: String) {
    let continuation = state.withLock { state -> UnsafeContinuation<Bool, Never>? in
      guard let index = state.lines[name]?.waiters.firstIndex(where: { $0.ticket == ticket }) else {
        state.abandoned.insert(ticket)
        return nil
      }
      return state.lines[name]?.waiters.remove(at: index).continuation
    }
    continuation?.resume(returning: false)
  }

  private func leave(_ name: String) {
    let next = state.withLock { state -> UnsafeContinuation<Bool, Never>? in
      guard let line = state.lines[name], !line.waiters.isEmpty else {
        state.lines[name] = nil
        return nil
      }
      return state.lines[name]?.waiters.removeFirst().continuation
    }
    next?.resume(returning: true)
  }
}
