/// Runs many tasks, and keeps their outcomes for whoever reads them: the owner of a ``TaskWindow``.
final class TaskWindowDesk<Described: PayloadDownloadingTask, Failure: Error>: Sendable {
  /// What came of a task.
  struct Outcome: Sendable {
    /// Where in the source it stood, from 0.
    let place: Int
    let task: Described
    let result: Result<Described.DownloadPayload, any Error>
  }

  private typealias Window = TaskWindow<Outcome, Failure>
  private typealias Waiter = UnsafeContinuation<Void, Never>

  private struct State {
    var window: Window
    /// What takes tasks from the source, while there is no room.
    var taker: Waiter?
    var readers: [Int: Waiter] = [:]
    var nextReader = 0

    /// Removes the taker if it may go on.
    mutating func takerToWake() -> Waiter? {
      guard window.hasRoom || window.isOver else { return nil }
      defer { taker = nil }
      return taker
    }

    mutating func allReaders() -> [Waiter] {
      defer { readers = [:] }
      return Array(readers.values)
    }
  }

  private let state: Lock<State>

  init(_ window: TaskWindow<Outcome, Failure>) { state = Lock(State(window: window)) }

  var progress: TaskBatchProgress { state.withLock { $0.window.progress } }

  // MARK: Running

  /// Takes tasks as there is room, and runs them; returns when the last has ended. A cancel ends that.
  @concurrent func run(_ source: TaskSource<Described, Failure>) async {
    let limit = state.withLock { $0.window.limit }
    await withTaskGroup(of: Void.self) { group in
      var running = 0
      do throws(Failure) {
        while await waitForRoom() {
          if running == limit {
            await group.next()
            running -= 1
          }
          guard !Task.isCancelled, let task = try await source.next() else { break }
          running += 1
          let place = state.withLock { $0.window.take() }
          group.addTask { await self.run(task, at: place) }
        }
        endSource(nil)
      } catch {
        endSource(error)
      }
    }
  }

  private func run(_ task: Described, at place: Int) async {
    do {
      finish(Outcome(place: place, task: task, result: .success(try await task.download())), isFailed: false)
    } catch {
      finish(Outcome(place: place, task: task, result: .failure(error)), isFailed: true)
    }
  }

  private func finish(_ outcome: Outcome, isFailed: Bool) {
    let reader = state.withLock { state in
      state.window.finish(outcome.place, outcome, isFailed: isFailed)
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

  /// False when nothing is to be taken any more.
  private func waitForRoom() async -> Bool {
    if state.withLock({ $0.window.hasRoom }) { return true }
    await withTaskCancellationHandler {
      await withUnsafeContinuation { (waiter: Waiter) in
        let mayGoOn = state.withLock { state in
          guard !state.window.hasRoom, !state.window.isOver, !Task.isCancelled else { return true }
          state.taker = waiter
          return false
        }
        if mayGoOn { waiter.resume() }
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

  /// The next outcome; nil at the end, or when the surrounding task was cancelled. Throws the failure of the source.
  func next() async throws(Failure) -> Outcome? {
    while true {
      let (step, taker, readers) = state.withLock { state -> (Window.Step, Waiter?, [Waiter]) in
        let step = state.window.next()
        switch step {
        case .wait: return (step, nil, [])
        // There may be more, or nothing any more: another reader looks.
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
      case .wait:
        if Task.isCancelled { return nil }
        await waitForOutcome()
      }
    }
  }

  /// All payloads, in the order of the source. Throws the first failure, and `CancellationError` when the surrounding
  /// task is cancelled.
  func payloads() async throws -> [Described.DownloadPayload] {
    var payloads: [Described.DownloadPayload?] = []
    while let outcome = try await next() {
      let payload = try outcome.result.get()
      while payloads.count <= outcome.place { payloads.append(nil) }
      payloads[outcome.place] = payload
    }
    try Task.checkCancellation()
    return payloads.compactMap(\.self)
  }

  private func waitForOutcome() async {
    let number = state.withLock { state in
      state.nextReader += 1
      return state.nextReader
    }
    await withTaskCancellationHandler {
      await withUnsafeContinuation { (waiter: Waiter) in
        let mayGoOn = state.withLock { state in
          guard !state.window.hasStep, !Task.isCancelled else { return true }
          state.readers[number] = waiter
          return false
        }
        if mayGoOn { waiter.resume() }
      }
    } onCancel: {
      state.withLock { $0.readers.removeValue(forKey: number) }?.resume()
    }
  }

  /// Nobody reads any more: what is under way is of no use, and whoever still asks is told that it is over.
  func close() {
    let (taker, readers) = state.withLock { state in
      state.window.close()
      return (state.takerToWake(), state.allReaders())
    }
    taker?.resume()
    for reader in readers { reader.resume() }
  }
}
