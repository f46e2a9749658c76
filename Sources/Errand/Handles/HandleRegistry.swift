/// The work behind a handle: the call of the present round, the waiters for its value, the readers of its events.
final class HandleRegistry<Value: Sendable>: Sendable {
  typealias Operation = @Sendable (CallControl) async throws -> Value
  typealias Events = AsyncStream<TaskEvent>
  typealias Transfers = AsyncStream<TransferProgress>

  /// A reader of the value of one round.
  private struct Reader {
    let round: Int
    let waiter: Waiter<Result<Value, any Error>>
  }

  private struct State {
    var progress = HandleProgress()
    var job: Task<Void, Never>?
    var gate: PauseGate?
    /// True when the present round is to be cancelled as soon as it has a job.
    var isCancelled = false
    /// The number of its handles.
    var handles = 0
    var result: Result<Value, any Error>?
    var lastID = 0
    var waiters: [Int: Reader] = [:]
    var events: [TaskEvent] = []
    var readers: [Events.Continuation] = []
    /// The last progress of the present round, and those who watch it.
    var transfer: TransferProgress?
    var watchers: [Transfers.Continuation] = []

    /// Ends what is read of the present round.
    mutating func finishReaders() {
      for reader in readers { reader.finish() }
      for watcher in watchers { watcher.finish() }
      (readers, watchers) = ([], [])
    }
  }

  /// More events than any call has unless it is retried for days.
  private static var unreadEvents: Int { 1000 }

  private let operation: Operation
  /// The plan of the call, and the desk where it can be cancelled from outside before it has begun; nil where there is none.
  private let work: (plan: TaskPlan, calls: CallRegistry)?
  private let mayWait: @Sendable () throws -> Void
  private let state = Lock(State())

  /// Work that `operation` does; `mayWait` throws where waiting for it would never end.
  init(
    of work: (plan: TaskPlan, calls: CallRegistry)? = nil, mayWait: @escaping @Sendable () throws -> Void = {},
    _ operation: @escaping Operation
  ) {
    self.work = work
    self.mayWait = mayWait
    self.operation = operation
  }

  var handleState: TaskHandleState { state.withLock { $0.progress.state } }

  // MARK: Running

  /// Runs the present round. The job holds this object until it is done, with or without the handle.
  func start() {
    let round = state.withLock { $0.progress.round }
    let number = work.map { work in
      work.calls.enter(CallRegistry.Work(plan: work.plan) { [weak self] in self?.cancel(round: round) ?? false })
    }
    let control = CallControl(
      work: number, { [self] in note($0, round) }, onProgress: { [self] in note($0, round) })
    state.withLock { state in
      state.gate = control.gate
      if state.progress.state == .paused { control.gate.close() }
    }
    let job = SerialQueues.leavingHeld {
      Task { [self] in
        defer { if let number { work?.calls.leave(number) } }
        do {
          finish(.success(try await operation(control)), round)
        } catch {
          finish(.failure(error), round)
        }
      }
    }
    let isCancelled = state.withLock { state in
      guard state.progress.round == round else { return false }
      state.job = job
      return state.isCancelled
    }
    if isCancelled { job.cancel() }
  }

  /// Cancels a round; false where it is over.
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

  /// A handle is made.
  func retain() { state.withLock { $0.handles += 1 } }

  /// Notes that a handle was released. The last one resumes a paused call, which nothing else could, and whose slot others may need.
  func release() {
    let isLast = state.withLock { state in
      state.handles -= 1
      return state.handles == 0
    }
    if isLast { _ = resume() }
  }

  // MARK: Results

  /// The value of the present round. A cancelled waiter stops waiting; the round goes on.
  func value() async throws -> Value {
    if state.withLock({ $0.result == nil }) { try mayWait() }
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

  /// The events of the present round, past and to come.
  func events() -> Events {
    stream(.bufferingNewest(Self.unreadEvents), to: \.readers) { $0.events }
  }

  private func note(_ event: TaskEvent, _ round: Int) {
    state.withLock { state in
      guard state.progress.round == round else { return }
      state.progress.note(event.moment)
      if state.events.count == Self.unreadEvents { state.events.removeLast() }  // the last is kept, so that the end is
      state.events.append(event)
      for reader in state.readers { reader.yield(event) }
      guard state.progress.state.isOver else { return }
      state.finishReaders()
    }
  }

  /// The progress of the present round, from the last that is known.
  func transfers() -> Transfers {
    // A slow reader gets the newest: the others are past.
    stream(.bufferingNewest(1), to: \.watchers) { $0.transfer.map { [$0] } ?? [] }
  }

  /// The elements of the present round that are known, followed by those that `readers` receive from now on.
  private func stream<Element: Sendable>(
    _ policy: AsyncStream<Element>.Continuation.BufferingPolicy,
    to readers: WritableKeyPath<State, [AsyncStream<Element>.Continuation]>, from known: (State) -> [Element]
  ) -> AsyncStream<Element> {
    let (stream, reader) = AsyncStream<Element>.makeStream(bufferingPolicy: policy)
    // Under the lock, so that old and new come in order: a continuation takes an element and calls nothing.
    let isOver = state.withLock { state in
      for element in known(state) { reader.yield(element) }
      if !state.progress.state.isOver { state[keyPath: readers].append(reader) }
      return state.progress.state.isOver
    }
    if isOver { reader.finish() }
    return stream
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
