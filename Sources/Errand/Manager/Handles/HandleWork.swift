/// The work behind a handle. ``TaskHandle/retry()`` replaces its run.
final class HandleWork<Value: Sendable>: Sendable {
  private struct State {
    var run = HandleRun<Value>()
    var handles = 0
  }

  private let operation: HandleRun<Value>.Operation
  /// Returns the plan of a run. A later run may have another server.
  private let plan: @Sendable () -> TaskPlan
  private let state = Lock(State())

  init(of plan: @escaping @Sendable () -> TaskPlan, _ operation: @escaping HandleRun<Value>.Operation) {
    self.plan = plan
    self.operation = operation
  }

  /// The current run.
  var run: HandleRun<Value> { state.withLock { $0.run } }

  func start() { run.start(plan(), operation) }

  func retry() -> Bool {
    let (last, next) = (run, HandleRun<Value>())
    guard last.canBeRetried else { return false }
    let isReplaced = state.withLock { state in
      guard state.run === last else { return false }  // another task has retried it
      state.run = next
      return true
    }
    if isReplaced { next.start(plan(), operation) }
    return isReplaced
  }

  func retain() { state.withLock { $0.handles += 1 } }

  /// Records that a handle was released. Releasing the last handle resumes a paused call, because nothing else can
  /// resume it, and other calls may need its slot.
  func release() {
    let run = state.withLock { state in
      state.handles -= 1
      return state.handles == 0 ? state.run : nil
    }
    _ = run?.resume()
  }
}
