/// The work behind a handle: the current run's call, the tasks that wait for its value, and the readers of its events.
/// ``TaskHandle/retry()`` begins another run.
final class HandleWork<Value: Sendable>: Sendable {
  typealias Operation = @Sendable (TaskPlan, CallControl) async throws -> Value
  typealias Events = AsyncStream<TaskEvent>
  typealias Transfers = AsyncStream<TransferProgress>

  private struct Reader {
    let round: Int
    let waiter: Waiter<Result<Value, any Error>>
  }

  private struct State {
    var progress = HandleProgress()
    var job: Task<Void, Never>?
    var gate: PauseGate?
    /// Whether to cancel the current run as soon as it has a job.
    var isCancelled = false
    var handles = 0
    var result: Result<Value, any Error>?
    var lastID = 0
    var waiters: [Int: Reader] = [:]
    var events: [TaskEvent] = []
    var readers: [Events.Continuation] = []
    var transfer: TransferProgress?
    var watchers: [Transfers.Continuation] = []

    mutating func finishReaders() {
      for reader in readers { reader.finish() }
      for watcher in watchers { watcher.finish() }
      (readers, watchers) = ([], [])
    }
  }

  /// The maximum number of events kept. Only a call that is retried for days exceeds it.
  private static var unreadEvents: Int { 1000 }

  private let operation: Operation
  /// Returns the plan of a run. A later run may have another server.
  private let plan: @Sendable () -> TaskPlan
  /// Waits for the current run.
  private let node = WaitNode()
  private let state = Lock(State())

  init(of plan: @escaping @Sendable () -> TaskPlan, _ operation: @escaping Operation) {
    self.plan = plan
    self.operation = operation
  }

  var handleState: TaskHandleState { state.withLock { $0.progress.state } }

  // MARK: Running

  /// Starts the current run. The job retains this object until the job ends, even if the handle has been released.
  func start() {
    let round = state.withLock { $0.progress.round }
    var plan = plan()
    plan.keepSettings()  // here, because the user or the remote may change before the job begins
    let (calls, queues) = (plan.server.manager.calls, plan.server.manager.serialQueues)
    let number = calls.enter(CallRegistry.Work(plan: plan) { [weak self] in self?.cancel(round: round) ?? false })
    let run = WaitNode()
    node.wait(for: run)
    let place = queues.reserve(plan.serialQueue, as: [run])  // here, because Swift tasks may begin in any order
    // Weak, because the result can contain a response, which refers to its call. The job retains this object.
    let control = CallControl(
      work: number, place: place, { [weak self] in self?.note($0, round) },
      onProgress: { [weak self] in self?.note($0, round) })
    state.withLock { state in
      state.gate = control.gate
      if state.progress.state == .paused { control.gate.close() }
    }
    let job = Task { [self] in
      defer {
        if let place { queues.leave(place) }
        node.stopWaiting(for: run)
        calls.leave(number)
      }
      do {
        finish(.success(try await run.workAlone { [plan] in try await operation(plan, control) }), round)
      } catch {
        finish(.failure(error), round)
      }
    }
    let isCancelled = state.withLock { state in
      guard state.progress.round == round else { return false }
      state.job = job
      return state.isCancelled
    }
    if isCancelled { job.cancel() }
  }

  private func cancel(round: Int) -> Bool {
    let (isOurs, job) = state.withLock { state in
      guard state.progress.round == round, state.result == nil else { return (false, nil as Task<Void, Never>?) }
      state.isCancelled = true
      return (true, state.job)
    }
    job?.cancel()
    return isOurs
  }

  func cancel() {
    let job = state.withLock { state in
      state.isCancelled = true
      return state.job
    }
    job?.cancel()
  }

  func pause() -> Bool {
    state.withLock { state in
      guard state.progress.pause() else { return false }
      state.gate?.close()
      return true
    }
  }

  func resume() -> Bool {
    state.withLock { state in
      guard state.progress.resume() else { return false }
      state.gate?.open()
      return true
    }
  }

  func retry() -> Bool {
    let isBegun = state.withLock { state in
      guard state.progress.retry() else { return false }
      state.finishReaders()
      (state.job, state.gate, state.result, state.isCancelled) = (nil, nil, nil, false)
      (state.events, state.transfer) = ([], nil)
      return true
    }
    if isBegun { start() }
    return isBegun
  }

  func retain() { state.withLock { $0.handles += 1 } }

  /// Records that a handle was released. Releasing the last handle resumes a paused call, because nothing else can
  /// resume it, and other calls may need its slot.
  func release() {
    let isLast = state.withLock { state in
      state.handles -= 1
      return state.handles == 0
    }
    if isLast { _ = resume() }
  }

  // MARK: Results

  /// Returns the current run's value when it is available. If the waiting task is cancelled, it stops waiting and the
  /// run continues.
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
        state.waiters[id] = Reader(round: state.progress.round, waiter: waiter)
        return nil
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: id) }?.waiter.resume(returning: .failure(CancellationError()))
    }
    return try result.get()
  }

  func events() -> Events {
    stream(.bufferingNewest(Self.unreadEvents), to: \.readers) { $0.events }
  }

  private func note(_ event: TaskEvent, _ round: Int) {
    state.withLock { state in
      guard state.progress.round == round else { return }
      state.progress.note(event.moment)
      if state.events.count == Self.unreadEvents { state.events.removeLast() }  // makes room for the newest event
      state.events.append(event)
      for reader in state.readers { reader.yield(event) }
      guard state.progress.state.isOver else { return }
      state.finishReaders()
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

  private func note(_ transfer: TransferProgress, _ round: Int) {
    state.withLock { state in
      guard state.progress.round == round else { return }
      state.transfer = transfer
      for watcher in state.watchers { watcher.yield(transfer) }
    }
  }

  private func finish(_ result: Result<Value, any Error>, _ round: Int) {
    let waiters = state.withLock { state in
      if state.progress.round == round { state.result = result }
      let due = state.waiters.filter { $0.value.round == round }
      for id in due.keys { state.waiters[id] = nil }
      return Array(due.values)
    }
    for reader in waiters { reader.waiter.resume(returning: result) }
  }
}
