import Errand

/// Starts, pauses, resumes and cancels the runs of a transfer, one at a time, and publishes the transfer's state.
final class TransferCoordinator: Sendable {
  typealias States = AsyncStream<TransferState>

  private struct State {
    var life = TransferStateMachine()
    var run: (any Cancellable)?
    var attempt: (any Cancellable)?
    /// The run's ID in the manager's call registry.
    var number: Int?
    var isHeld = false
    /// Whether the run was cancelled before `run` was set.
    var isCancelled = false
    var lastID = 0
    var readers: [Int: States.Continuation] = [:]

    /// Yields the current state to the readers. Call it under the lock, so that states arrive in order.
    func notify() { for reader in readers.values { reader.yield(life.state) } }
  }

  /// Thrown by an attempt that was cancelled by a pause.
  struct PausedError: Error {}

  private let state = Lock(State())
  private let gate = PauseGate()
  private let name: String

  init(_ name: String) { self.name = name }

  var transferState: TransferState { state.withLock { $0.life.state } }

  /// The ID shared by the run and its calls. `nil` if no run is active.
  var number: Int? { state.withLock { $0.number } }

  // MARK: Running

  /// Runs `body`. The run can be cancelled by `cancel()`, by the surrounding Swift task and by the manager. Throws
  /// `TaskError` with code `.transferInUse` if a run is already active. Rethrows errors from `body`.
  func run<Value: Sendable>(_ plan: TaskPlan, _ body: @escaping @Sendable () async throws -> Value) async throws
    -> Value
  {
    let isFirst = state.withLock { state in
      guard state.life.begin() else { return false }
      state.isCancelled = false
      state.notify()
      return true
    }
    guard isFirst else { throw Self.inUse(name) }
    let calls = plan.server.manager.calls
    let number = calls.enter(CallRegistry.Work(plan: plan) { [weak self] in self?.cancel() ?? false })
    state.withLock { $0.number = number }
    defer { calls.leave(number) }
    let job = Task { try await body() }
    let isCancelled = state.withLock { state in
      state.run = job
      return state.isCancelled
    }
    if isCancelled { job.cancel() }
    let result = await withTaskCancellationHandler {
      await job.result
    } onCancel: {
      job.cancel()
    }
    end(result)
    return try result.get()
  }

  private func end<Value: Sendable>(_ result: Result<Value, any Error>) {
    let final: TransferState =
      switch result {
      case .success: .finished
      case .failure(is CancellationError): .cancelled
      case .failure(let error): .failed(error)
      }
    let readers = state.withLock { state in
      (state.run, state.attempt, state.number) = (nil, nil, nil)
      state.life.end(final)
      gate.open()  // the gate is opened and closed under the lock, so that a concurrent pause isn't lost
      state.notify()
      defer { state.readers = [:] }
      return Array(state.readers.values)
    }
    for reader in readers { reader.finish() }  // outside the lock, because `onTermination` acquires it
  }

  /// Runs an attempt that `pause()` can cancel. Throws ``PausedError`` if a pause cancelled the attempt. Rethrows
  /// errors from `body`.
  func attempt<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
    let job = Task { try await body() }
    let isHeld = state.withLock { state in
      state.attempt = job
      state.isHeld = state.life.isPaused
      return state.isHeld
    }
    if isHeld { job.cancel() }
    defer { state.withLock { $0.attempt = nil } }
    do {
      return try await withTaskCancellationHandler {
        try await job.value
      } onCancel: {
        job.cancel()
      }
    } catch is CancellationError where !Task.isCancelled && state.withLock({ $0.isHeld }) {
      throw PausedError()
    }
  }

  /// Throws ``PausedError`` if the transfer is paused.
  func checkPause() throws {
    if state.withLock({ $0.life.isPaused }) { throw PausedError() }
  }

  /// Waits while the transfer is paused. Throws `CancellationError` if the run is cancelled.
  func pass() async throws {
    try Task.checkCancellation()
    try await gate.pass()
  }

  func note(_ next: TransferState) {
    state.withLock { state in
      state.life.note(next)
      state.notify()
    }
  }

  // MARK: Controlling

  func pause() -> Bool {
    let (isPaused, attempt) = state.withLock { state -> (Bool, (any Cancellable)?) in
      guard state.life.pause() else { return (false, nil) }
      state.isHeld = true
      gate.close()
      state.notify()
      return (true, state.attempt)
    }
    attempt?.cancel()
    return isPaused
  }

  func resume() -> Bool {
    state.withLock { state in
      guard state.life.resume() else { return false }
      gate.open()
      state.notify()
      return true
    }
  }

  /// Cancels the run. Returns `false` if no run is active.
  @discardableResult
  func cancel() -> Bool {
    let (run, isRunning) = state.withLock { state in
      state.isCancelled = state.life.isRunning
      return (state.run, state.life.isRunning)
    }
    run?.cancel()
    return isRunning
  }

  // MARK: Watching

  /// Returns the current state, followed by all later states until the run ends. If the last run has already ended, the
  /// stream contains only the current state.
  func states() -> States {
    let (stream, reader) = States.makeStream(bufferingPolicy: .bufferingNewest(1))
    let isOver = state.withLock { state in
      reader.yield(state.life.state)
      state.lastID += 1
      let id = state.lastID
      if !state.life.state.isOver {
        state.readers[id] = reader
        reader.onTermination = { [weak self] _ in self?.leave(id) }
      }
      return state.life.state.isOver
    }
    if isOver { reader.finish() }
    return stream
  }

  private func leave(_ id: Int) { _ = state.withLock { $0.readers.removeValue(forKey: id) } }

  static func inUse(_ name: String) -> TaskError {
    TaskError(
      .transferInUse,
      "\(name) is already in use by this or another process: wait until it is released, or cancel the other transfer",
      phase: .preparing, wasNotSent: true)
  }
}
