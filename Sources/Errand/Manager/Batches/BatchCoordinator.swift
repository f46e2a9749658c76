/// Runs a batch of tasks, limited by a ``TaskWindow``. Stores their outcomes until they are read.
final class BatchCoordinator<Described: PayloadDownloadingTask, Failure: Error>: Sendable {
  struct Completion: Sendable {
    /// The task's position in the source, starting at 0.
    let index: Int
    let task: Described.Unmodified
    let result: Result<Described.DownloadPayload, any Error>
  }

  private typealias Window = TaskWindow<Completion, Failure>

  private struct State {
    var window: Window
    /// The loop that reads the source, if it is waiting for room in the window.
    var taker: Waiter<Void>?
    var readers: [Int: Waiter<Void>] = [:]
    var nextReader = 0
    /// Whether a cancellation ended the batch before all results were read.
    var isCut = false
    var cancelled = 0

    /// Removes and returns `taker` if it can continue.
    mutating func takerToWake() -> Waiter<Void>? {
      guard window.hasRoom || window.isOver else { return nil }
      defer { taker = nil }
      return taker
    }

    mutating func allReaders() -> [Waiter<Void>] {
      defer { readers = [:] }
      return Array(readers.values)
    }
  }

  private let state: Lock<State>
  private let server: Server?

  init(_ window: TaskWindow<Completion, Failure>, on server: Server? = nil) {
    state = Lock(State(window: window))
    self.server = server
  }

  var progress: TaskBatchProgress { state.withLock { $0.window.progress } }

  var isCut: Bool { state.withLock { $0.isCut } }

  // MARK: Running

  /// Takes tasks from the source and runs them while the window has room. Returns when all tasks have ended.
  @concurrent func run(_ source: TaskSource<Described, Failure>) async {
    let limit = state.withLock { $0.window.limit }
    await withTaskGroup(of: Void.self) { group in
      var running = 0
      var isExhausted = false
      do throws(Failure) {
        while await waitForRoom() {
          if running == limit {
            await group.next()
            running -= 1
          }
          guard !Task.isCancelled else { break }
          guard let task = try await source.next() else {
            isExhausted = true
            break
          }
          running += 1
          let index = state.withLock { $0.window.take() }
          let plan = entered(task.plan)
          group.addTask { await self.run(task, plan, at: index) }
        }
        if isExhausted, !Task.isCancelled { endSource(nil) }
        await group.waitForAll()
        endSource(Task.isCancelled ? try await cut(isExhausted ? nil : source) : nil)
      } catch {
        endSource(error)
      }
    }
  }

  /// Ends the batch after a cancellation. Makes sure that at least one result is a `CancellationError`, or returns the
  /// error if no tasks are left. `source` is `nil` if it is already exhausted.
  private func cut(_ source: TaskSource<Described, Failure>?) async throws(Failure) -> Failure? {
    let isReported = state.withLock { state in
      let isReported = state.cancelled > 0 || state.window.isClosed
      state.isCut = !state.window.isClosed && (source != nil || state.cancelled > 0)
      return isReported
    }
    if isReported { return nil }
    guard let source, let task = try await source.next() else { return CancellationError() as? Failure }
    let index = state.withLock { $0.window.take() }
    finish(Completion(index: index, task: task.unmodified, result: .failure(CancellationError())), isFailed: true)
    return nil
  }

  /// Enters the plan's serial queue in the order of the tasks.
  private func entered(_ plan: TaskPlan) -> TaskPlan {
    var plan = plan
    if let server { plan.server = server }
    plan.place = plan.server.manager.serialQueues.reserve(plan.serialQueue)
    return plan
  }

  private func run(_ task: Described, _ plan: TaskPlan, at index: Int) async {
    defer { if let place = plan.place { plan.server.manager.serialQueues.leave(place) } }
    do {
      let payload = try await Call.perform(plan, .memory) { try $0.decoded(Described.DownloadPayload.self) }
      finish(Completion(index: index, task: task.unmodified, result: .success(payload)), isFailed: false)
    } catch {
      finish(Completion(index: index, task: task.unmodified, result: .failure(error)), isFailed: true)
    }
  }

  private func finish(_ outcome: Completion, isFailed: Bool) {
    let reader = state.withLock { state in
      state.window.finish(outcome.index, outcome, isFailed: isFailed)
      // A task can also cancel itself. Count it only if the batch was cancelled.
      if Task.isCancelled, case .failure(let error) = outcome.result, error is CancellationError {
        state.cancelled += 1
      }
      return state.readers.popFirst()?.value
    }
    reader?.resume()
  }

  private func endSource(_ failure: Failure?) {
    let readers = state.withLock { state in
      state.window.endSource(failure)
      return state.allReaders()
    }
    for reader in readers { reader.resume() }
  }

  /// Waits for room in the window. Returns `false` if no more tasks should be started.
  private func waitForRoom() async -> Bool {
    if state.withLock({ $0.window.hasRoom }) { return true }
    await answer { waiter in
      state.withLock { state -> Void? in
        guard !state.window.hasRoom, !state.window.isOver, !Task.isCancelled else { return () }
        state.taker = waiter
        return nil
      }
    } onCancel: {
      let taker = state.withLock { state in
        defer { state.taker = nil }
        return state.taker
      }
      taker?.resume()
    }
    return !Task.isCancelled && state.withLock { $0.window.hasRoom }
  }

  // MARK: Reading

  /// Returns the next outcome, or `nil` at the end. Throws the source's error. Cancelling the reader cancels the tasks,
  /// which end immediately. Their outcomes are still returned.
  func next() async throws(Failure) -> Completion? {
    while true {
      let (step, taker, readers) = state.withLock { state -> (Window.Step, Waiter<Void>?, [Waiter<Void>]) in
        let step = state.window.next()
        switch step {
        case .wait: return (step, nil, [])
        // Wake another reader, because there may be another outcome or the batch may be over.
        case .outcome: return (step, state.takerToWake(), state.readers.popFirst().map { [$0.value] } ?? [])
        case .failure, .over: return (step, state.takerToWake(), state.allReaders())
        }
      }
      taker?.resume()
      for reader in readers { reader.resume() }
      switch step {
      case .outcome(let outcome): return outcome
      case .failure(let failure): throw failure
      case .over: return nil
      case .wait: await waitForOutcome()
      }
    }
  }

  func nextResult() async -> Result<Completion?, Failure> {
    do throws(Failure) { return .success(try await next()) } catch { return .failure(error) }
  }

  /// Returns all payloads, in the order of the source. Throws the first failure, or `CancellationError` if the
  /// surrounding task is cancelled.
  func payloads() async throws -> [Described.DownloadPayload] {
    var payloads: [Described.DownloadPayload?] = []
    while let outcome = try await next() {
      let payload = try outcome.result.get()
      while payloads.count <= outcome.index { payloads.append(nil) }
      payloads[outcome.index] = payload
    }
    try Task.checkCancellation()
    return payloads.compactMap(\.self)
  }

  private func waitForOutcome() async {
    let number = state.withLock { state in
      state.nextReader += 1
      return state.nextReader
    }
    // `onCancel` is not needed: cancelling a reader cancels the tasks, and their outcomes wake the reader.
    await answer { waiter in
      state.withLock { state -> Void? in
        guard !state.window.hasStep else { return () }
        state.readers[number] = waiter
        return nil
      }
    }
  }

  /// Discards the unread outcomes and wakes the waiting readers. From then on, no outcomes are returned.
  func close() {
    let (taker, readers) = state.withLock { state in
      state.window.close()
      return (state.takerToWake(), state.allReaders())
    }
    taker?.resume()
    for reader in readers { reader.resume() }
  }
}

/// The source of a batch: a synchronous or asynchronous sequence.
struct TaskSource<Described: Sendable, Failure: Error> {
  /// Returns the next task, or `nil` at the end. Does not run on the caller's actor, because `next(isolation:)`
  /// requires newer OS versions.
  let next: @concurrent () async throws(Failure) -> Described?
  /// The sequence's `underestimatedCount`. 0 for an asynchronous sequence.
  let expected: Int

  init<Tasks: Sequence>(_ tasks: Tasks) where Tasks.Element == Described, Failure == Never {
    expected = tasks.underestimatedCount
    var iterator = tasks.makeIterator()
    next = { () async throws(Never) -> Described? in iterator.next() }
  }

  init<Tasks: AsyncSequence>(_ tasks: Tasks) where Tasks.Element == Described, Failure == any Error {
    expected = 0
    var iterator = tasks.makeAsyncIterator()
    next = { try await iterator.next() }
  }
}
