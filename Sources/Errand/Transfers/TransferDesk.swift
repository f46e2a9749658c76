/// The owner of a ``TransferLife``: what runs the transfer, pauses it and watches it meets here.
final class TransferDesk: Sendable {
  typealias States = AsyncStream<TransferState>

  private struct State {
    var life = TransferLife()
    /// The run, and the attempt that it is at.
    var run: (any Cancellable)?
    var attempt: (any Cancellable)?
    /// Its number among the work of the manager.
    var number: Int?
    /// True where a pause has cancelled the attempt.
    var isHeld = false
    /// True where the run is to be cancelled as soon as it is known.
    var isCancelled = false
    var lastID = 0
    var readers: [Int: States.Continuation] = [:]

    /// Tells the present state to those who watch, under the lock: told later, it might take the place of a newer one.
    func tell() { for reader in readers.values { reader.yield(life.state) } }
  }

  /// An attempt that a pause has ended.
  struct Held: Error {}

  private let state = Lock(State())
  private let gate = PauseGate()
  /// The transfer in words, for the error of a second run.
  private let name: String

  init(_ name: String) { self.name = name }

  var transferState: TransferState { state.withLock { $0.life.state } }

  /// The number of the run, which its calls have; nil where it does not run.
  var number: Int? { state.withLock { $0.number } }

  // MARK: Running

  /// Runs `body` as the one run of the transfer; `cancel()`, the surrounding task and the manager cancel it.
  /// Throws ``TaskError`` with code `.transferInUse` while another run is under way, and what `body` throws.
  func run<Value: Sendable>(_ plan: TaskPlan, _ body: @escaping @Sendable () async throws -> Value) async throws
    -> Value
  {
    let isFirst = state.withLock { state in
      guard state.life.begin() else { return false }
      state.isCancelled = false
      state.tell()
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
      gate.open()  // under the lock, as it is closed: a pause that comes between would be none
      state.tell()
      defer { state.readers = [:] }
      return Array(state.readers.values)
    }
    for reader in readers { reader.finish() }  // not under the lock, which its end takes
  }

  /// Runs an attempt, which a pause cancels.
  /// Throws ``Held`` where that has ended it, and what `body` throws.
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
      throw Held()
    }
  }

  /// Waits while the transfer is paused.
  /// Throws `CancellationError` when the run is cancelled first.
  func pass() async throws {
    try Task.checkCancellation()
    try await gate.pass()
  }

  /// Notes what the run does.
  func note(_ next: TransferState) {
    state.withLock { state in
      state.life.note(next)
      state.tell()
    }
  }

  // MARK: From outside

  func pause() -> Bool {
    let (isPaused, attempt) = state.withLock { state -> (Bool, (any Cancellable)?) in
      guard state.life.pause() else { return (false, nil) }
      state.isHeld = true
      gate.close()
      state.tell()
      return (true, state.attempt)
    }
    attempt?.cancel()
    return isPaused
  }

  func resume() -> Bool {
    state.withLock { state in
      guard state.life.resume() else { return false }
      gate.open()
      state.tell()
      return true
    }
  }

  /// Cancels the run; false where there is none.
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

  /// The states from the present one on; ends with the run that is under way, or the next one.
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
      "\(name) is in use already, here or in another process: wait for that one, or cancel it",
      phase: .preparing, isSurelyNotSent: true)
  }
}
