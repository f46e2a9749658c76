/// Notifies waiting calls when the system reports a network. One monitor serves all calls and runs only while a call is
/// waiting.
final class NetworkChanges: Sendable {
  /// Starts a monitor, which calls the closure until it is released. Returns `nil` if the system doesn't allow it.
  typealias Start = @Sendable (_ onChange: @escaping @Sendable () -> Void) -> (any AnyObject & Sendable)?

  private struct State {
    var waiters: [Int: AsyncStream<Void>.Continuation] = [:]
    var last = 0
    var monitor: (any AnyObject & Sendable)?
  }

  #if canImport(Network)
    static let shared = NetworkChanges { PathMonitor(onChange: $0) }
  #else
    static let shared = NetworkChanges { NetlinkMonitor(onChange: $0) }
  #endif

  private let start: Start
  private let state = Lock(State())

  init(start: @escaping Start) { self.start = start }

  var waiterCount: Int { state.withLock { $0.waiters.count } }

  /// Waits for the next change. Without a monitor, waits until the surrounding task is cancelled.
  func next() async throws(CancellationError) {
    let (changes, waiter) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let id = add(waiter)
    defer { remove(id) }
    for await _ in changes { return }
    throw CancellationError()
  }

  private func add(_ waiter: AsyncStream<Void>.Continuation) -> Int {
    let (id, isFirst) = state.withLock { state in
      state.last += 1
      state.waiters[state.last] = waiter
      return (state.last, state.waiters.count == 1)
    }
    guard isFirst else { return id }
    // The monitor is stored before this waiter leaves, so there is never a second one.
    let monitor = start { [weak self] in self?.notify() }
    state.withLock { $0.monitor = monitor }
    return id
  }

  private func remove(_ id: Int) {
    let unused = state.withLock { state -> (any AnyObject & Sendable)? in
      state.waiters[id] = nil
      guard state.waiters.isEmpty else { return nil }
      defer { state.monitor = nil }
      return state.monitor
    }
    withExtendedLifetime(unused) {}  // release the monitor outside the lock
  }

  private func notify() {
    let waiters = state.withLock { Array($0.waiters.values) }
    for waiter in waiters { waiter.yield() }
  }
}
