import Errand
import ErrandTesting

/// Blocks waiters until a test opens it.
final class Gate: Sendable {
  private let state = Shared<(isOpen: Bool, waiters: [CheckedContinuation<Void, Never>])>((false, []))

  func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiters.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  func open() {
    let waiters = state.withLock { state in
      state.isOpen = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }
}

/// A counter that can be awaited.
final class Counter: Sendable {
  private let state = Shared<(count: Int, waiters: [(Int, CheckedContinuation<Void, Never>)])>((0, []))

  var count: Int { state.withLock { $0.count } }

  func add() {
    let waiters = state.withLock { state in
      state.count += 1
      let count = state.count
      defer { state.waiters.removeAll { $0.0 <= count } }
      return state.waiters.filter { $0.0 <= count }
    }
    for waiter in waiters { waiter.1.resume() }
  }

  /// Waits until the count is at least `count`.
  func reached(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.count < count { state.waiters.append((count, continuation)) }
        return state.count >= count
      }
      if isThere { continuation.resume() }
    }
  }
}
