/// A call's life cycle. It has no side effects: the owner performs the returned actions outside the lock.
struct CallLife {
  enum Cause {
    /// The caller, the manager or a handle cancelled the call.
    case cancelled
    case deadline(TaskError.Phase)
  }

  private enum State {
    /// The call's Swift task is running. `nil` until the task has started.
    case running((any Cancellable)?)
    case streaming(any Cancellable)
    case cancelled(Cause)
    case ended(Cause?)
  }

  private var state = State.running(nil)

  /// The reason for the cancellation. `nil` if the call was not cancelled.
  var cause: Cause? {
    switch state {
    case .cancelled(let cause): cause
    case .ended(let cause): cause
    case .running, .streaming: nil
    }
  }

  /// Whether the call was cancelled or has ended.
  var isOver: Bool {
    switch state {
    case .running, .streaming: false
    case .cancelled, .ended: true
    }
  }

  var hasEnded: Bool { if case .ended = state { true } else { false } }

  var expired: TaskError.Phase? {
    if case .deadline(let phase) = cause { phase } else { nil }
  }

  /// Records the call's Swift task. If this returns `false`, the caller must cancel the task.
  mutating func begin(_ work: any Cancellable) -> Bool {
    guard case .running = state else { return false }
    state = .running(work)
    return true
  }

  /// Cancels the call. Returns the object to cancel: the call's Swift task, or the body that the caller reads.
  mutating func cancel(_ cause: Cause) -> (any Cancellable)? {
    switch state {
    case .running(let work):
      state = .cancelled(cause)
      return work
    case .streaming(let body):
      state = .cancelled(cause)
      return body
    case .cancelled, .ended: return nil
    }
  }

  /// Records that the caller now reads `body`. Returns `false` if the call was already cancelled.
  mutating func handOver(_ body: any Cancellable) -> Bool {
    guard case .running = state else { return false }
    state = .streaming(body)
    return true
  }

  /// Ends the call. Returns whether this is the first time, and the object that the call held, which must be released
  /// outside the lock.
  mutating func end() -> (isFirst: Bool, held: (any Cancellable)?) {
    defer { state = .ended(cause) }
    switch state {
    case .running(let work): return (true, work)
    case .streaming(let body): return (true, body)
    case .cancelled: return (true, nil)
    case .ended: return (false, nil)
    }
  }
}
