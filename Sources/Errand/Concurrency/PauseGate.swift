/// A gate that holds callers while it is closed.
package final class PauseGate: Sendable {
  private struct State {
    var isClosed = false
    var changes = 0
    var lastID = 0
    var waiters: [Int: Waiter<Bool>] = [:]
  }

  private let state = Lock(State())

  package init() {}

  package var isClosed: Bool { state.withLock { $0.isClosed } }

  package var changes: Int { state.withLock { $0.changes } }

  /// Whether the gate is closed, or has been opened or closed since `changes` was read.
  package func wasClosed(since changes: Int) -> Bool { state.withLock { $0.isClosed || $0.changes != changes } }

  package func close() {
    state.withLock { state in
      state.isClosed = true
      state.changes += 1
    }
  }

  package func open() {
    let waiters = state.withLock { state in
      state.isClosed = false
      state.changes += 1
      defer { state.waiters = [:] }
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter.resume(returning: true) }
  }

  /// Waits while the gate is closed. Throws `CancellationError` if the surrounding task is cancelled first.
  package func pass() async throws {
    while state.withLock({ $0.isClosed }) {
      guard await wait() else { throw CancellationError() }
    }
  }

  private func wait() async -> Bool {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    return await answer { waiter in
      state.withLock { state in
        if Task.isCancelled { return false }
        guard state.isClosed else { return true }
        state.waiters[id] = waiter
        return nil
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(returning: false)
    }
  }
}
