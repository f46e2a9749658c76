/// Counts started and finished work, so that tasks can wait until all work has finished.
///
/// A wait only covers work that started before the wait. If the waiting task is cancelled, the wait ends but the work
/// continues.
package final class Completion: Sendable {
  private struct State {
    var begun = 0
    var ended = 0
    var waiters: [(ticket: Int, goal: Int, waiter: Waiter<Void>)] = []
    var lastTicket = 0
    /// The tickets of tasks that were cancelled before they started to wait.
    var cancelled: Set<Int> = []
  }

  private let state = Lock(State())

  package init() {}

  package var begun: Int { state.withLock { $0.begun } }

  package var ended: Int { state.withLock { $0.ended } }

  package var isAwaited: Bool { state.withLock { !$0.waiters.isEmpty } }

  package func begin(_ count: Int = 1) { state.withLock { $0.begun += count } }

  /// Records that work has finished. Work must finish in the order in which it started.
  package func end(_ count: Int = 1) {
    let waiters = state.withLock { state -> [Waiter<Void>] in
      state.ended += count
      let ready = state.waiters.filter { $0.goal <= state.ended }
      state.waiters.removeAll { $0.goal <= state.ended }
      return ready.map(\.waiter)
    }
    for waiter in waiters { waiter.resume() }
  }

  package func wait() async {
    let (ticket, goal) = state.withLock { state in
      state.lastTicket += 1
      return (state.lastTicket, state.begun)
    }
    await answer { waiter in
      state.withLock { state -> Void? in
        guard state.ended < goal, !state.cancelled.contains(ticket) else { return () }
        state.waiters.append((ticket, goal, waiter))
        return nil
      }
    } onCancel: {
      cancel(ticket)
    }
    _ = state.withLock { $0.cancelled.remove(ticket) }
  }

  private func cancel(_ ticket: Int) {
    let waiter = state.withLock { state -> Waiter<Void>? in
      guard let index = state.waiters.firstIndex(where: { $0.ticket == ticket }) else {
        state.cancelled.insert(ticket)
        return nil
      }
      return state.waiters.remove(at: index).waiter
    }
    waiter?.resume()
  }
}
