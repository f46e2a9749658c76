/// A run of a handle's work: its call, the tasks that wait for its value, and the readers of its events.
final class HandleRun<Value: Sendable>: Sendable {
  typealias Operation = @Sendable (TaskPlan) async throws -> Value
  typealias Events = AsyncStream<TaskEvent>
  typealias Transfers = AsyncStream<TransferProgress>

  private struct State {
    var progress = HandleProgress()
    var job: Task<Void, Never>?
    /// Whether to cancel the job as soon as it exists.
    var isCancelled = false
    var result: Result<Value, any Error>?
    var lastID = 0
    var waiters: [Int: Waiter<Result<Value, any Error>>] = [:]
    var events: [TaskEvent] = []
    var readers: [Events.Continuation] = []
    var transfer: TransferProgress?
    var watchers: [Transfers.Continuation] = []
  }

  /// The maximum number of events kept. Only a call that is retried for days exceeds it.
  private static var unreadEvents: Int { 1000 }

  private let node = WaitNode()
  private let gate = PauseGate()
  private let state = Lock(State())

  var handleState: TaskHandleState { state.withLock { $0.progress.state } }

  var canBeRetried: Bool { state.withLock { $0.progress.canBeRetried } }

  // MARK: Running

  /// Starts the call. The job retains this object until the job ends, even if the handle has been released.
  func start(_ described: TaskPlan, _ operation: @escaping Operation) {
    var plan = described
    plan.keepSettings()  // here, because the user or the remote may change before the job begins
    let (calls, queues) = (plan.server.manager.calls, plan.server.manager.serialQueues)
    let number = calls.enter(CallRegistry.Work(plan: plan) { [weak self] in self?.cancel() ?? false })
    let place = queues.reserve(plan.serialQueue, as: [node])  // here, because Swift tasks may begin in any order
    (plan.transfer, plan.place) = (number, place)
    // Weak, because the result can contain a response, which refers to its call. The job retains this object.
    plan.control = CallControl(gate, { [weak self] in self?.note($0) }, onProgress: { [weak self] in self?.note($0) })
    let job = Task { [self, plan] in
      defer {
        if let place { queues.leave(place) }
        calls.leave(number)
      }
      do {
        finish(.success(try await node.workAlone { try await operation(plan) }))
      } catch {
        finish(.failure(error))
      }
    }
    let isCancelled = state.withLock { state in
      state.job = job
      return state.isCancelled
    }
    if isCancelled { job.cancel() }
  }

  /// Cancels the call. Returns `false` if the run has ended.
  @discardableResult
  func cancel() -> Bool {
    let (isRunning, job) = state.withLock { state -> (Bool, Task<Void, Never>?) in
      guard state.result == nil else { return (false, nil) }
      state.isCancelled = true
      return (true, state.job)
    }
    job?.cancel()
    return isRunning
  }

  func pause() -> Bool {
    state.withLock { state in
      guard state.progress.pause() else { return false }
      gate.close()
      return true
    }
  }

  func resume() -> Bool {
    state.withLock { state in
      guard state.progress.resume() else { return false }
      gate.open()
      return true
    }
  }

  // MARK: Results

  /// Returns the value when it is available. If the waiting task is cancelled, it stops waiting and the run continues.
  func value() async throws -> Value {
    guard let waiting = node.beginWait() else {
      throw TaskError(
        .reentrantQueue,
        "waiting for this handle would deadlock because its call waits for the call that this code belongs to, or for its serial queue: don't await it here",
        phase: .waiting)
    }
    defer { waiting.end() }
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    let result: Result<Value, any Error> = await answer { waiter in
      state.withLock { state in
        if let result = state.result { return result }
        if Task.isCancelled { return .failure(CancellationError()) }
        state.waiters[id] = waiter
        return nil
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(returning: .failure(CancellationError()))
    }
    return try result.get()
  }

  func events() -> Events {
    stream(.bufferingNewest(Self.unreadEvents), to: \.readers) { $0.events }
  }

  private func note(_ event: TaskEvent) {
    state.withLock { state in
      state.progress.note(event.moment)
      if state.events.count == Self.unreadEvents { state.events.removeLast() }  // makes room for the newest event
      state.events.append(event)
      for reader in state.readers { reader.yield(event) }
      guard state.progress.state.isOver else { return }
      for reader in state.readers { reader.finish() }
      for watcher in state.watchers { watcher.finish() }
      (state.readers, state.watchers) = ([], [])
    }
  }

  func transfers() -> Transfers {
    stream(.bufferingNewest(1), to: \.watchers) { $0.transfer.map { [$0] } ?? [] }
  }

  private func stream<Element: Sendable>(
    _ policy: AsyncStream<Element>.Continuation.BufferingPolicy,
    to readers: WritableKeyPath<State, [AsyncStream<Element>.Continuation]>, from known: (State) -> [Element]
  ) -> AsyncStream<Element> {
    let (stream, reader) = AsyncStream<Element>.makeStream(bufferingPolicy: policy)
    // Yield under the lock, so that old and new elements stay in order. Yielding to a continuation doesn't run other
    // code.
    let isOver = state.withLock { state in
      for element in known(state) { reader.yield(element) }
      if !state.progress.state.isOver { state[keyPath: readers].append(reader) }
      return state.progress.state.isOver
    }
    if isOver { reader.finish() }
    // The loop over the stream waits for the call, not the code that creates the stream.
    return AsyncStream { [node] in
      guard let waiting = node.beginWait() else { return nil }
      defer { waiting.end() }
      var elements = stream.makeAsyncIterator()
      return await elements.next()
    }
  }

  private func note(_ transfer: TransferProgress) {
    state.withLock { state in
      state.transfer = transfer
      for watcher in state.watchers { watcher.yield(transfer) }
    }
  }

  private func finish(_ result: Result<Value, any Error>) {
    let waiters = state.withLock { state in
      defer { state.waiters = [:] }
      state.result = result
      return Array(state.waiters.values)
    }
    for waiter in waiters { waiter.resume(returning: result) }
  }
}
