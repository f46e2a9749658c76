/// The results of many tasks, each paired with its task.
///
/// Results arrive as the tasks finish or in the order of the tasks; see ``ResultOrder``. With several readers, each
/// result goes to only one reader. A task's error is part of its result. If the source throws, no more tasks are
/// started, and the error is thrown after the results of the running tasks. `Failure` is the type of that error. It is
/// `Never` for a synchronous sequence.
public struct TaskResults<Described: PayloadDownloadingTask, Failure: Error>: AsyncSequence, Sendable {
  /// A task as declared, without modifiers, and its result.
  public typealias Element = (task: Described.Unmodified, result: Result<Described.DownloadPayload, any Error>)

  let coordinator: BatchCoordinator<Described, Failure>
  let driver: TaskResultsDriver

  init(
    of tasks: sending TaskSource<Described, Failure>, on server: Server?, limit: Int, order: ResultOrder
  ) {
    let window = TaskWindow<BatchCoordinator<Described, Failure>.Completion, Failure>(
      limit: limit, order: order, expected: tasks.expected)
    let coordinator = BatchCoordinator(window, on: server)
    self.coordinator = coordinator
    driver = TaskResultsDriver(Task { await coordinator.run(tasks) }) { coordinator.close() }
  }

  /// The current progress.
  public var progress: TaskBatchProgress { coordinator.progress }

  /// Iterates over the results.
  public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
    let results: TaskResults

    /// Returns the next result, or `nil` after the last. If the surrounding Swift task is cancelled, the running tasks
    /// are cancelled too, and the result of at least one of the tasks is `.failure(CancellationError())`. Throws any
    /// error thrown by the source.
    public mutating func next() async throws(Failure) -> Element? {
      let outcome = await withTaskCancellationHandler {
        await results.coordinator.nextResult()
      } onCancel: { [driver = results.driver] in
        driver.cancel()
      }
      return try outcome.get().map { ($0.task, $0.result) }
    }
  }

  /// Creates an iterator.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(results: self) }
}

/// The order in which the results of many tasks arrive.
public enum ResultOrder: Sendable {
  /// As the tasks finish. No result waits for a slow task.
  case finished
  /// In the order of the tasks. A result waits for the results of all earlier tasks and takes up space in the window,
  /// so a slow task delays the others when the window is full.
  case submitted
}

/// Cancels the tasks when the last reference to their results is released.
final class TaskResultsDriver: Sendable {
  private let work: Task<Void, Never>
  private let onRelease: @Sendable () -> Void

  /// Creates a driver. `onRelease` is called when the results can no longer be read.
  init(_ work: Task<Void, Never>, onRelease: @escaping @Sendable () -> Void) {
    self.work = work
    self.onRelease = onRelease
  }

  deinit {
    onRelease()
    work.cancel()
  }

  func cancel() { work.cancel() }

  /// Runs `body`, which reads the results. Cancelling the surrounding Swift task cancels the tasks. All tasks have
  /// ended when this method returns. Rethrows errors from `body`. Throws `CancellationError` if `body` missed results
  /// because of a cancellation.
  func scoped<Described, Failure, Value: Sendable>(
    _ coordinator: BatchCoordinator<Described, Failure>, _ body: () async throws -> Value
  ) async throws -> Value {
    let result: Result<Value, any Error>
    do {
      result = .success(try await withTaskCancellationHandler(operation: body) { work.cancel() })
    } catch {
      result = .failure(error)
    }
    if Task.isCancelled {
      work.cancel()  // the cancellation may have arrived after the handler was removed
      await work.value  // sets `coordinator.isCut`
    }
    let isCut = coordinator.isCut
    coordinator.close()
    work.cancel()
    await work.value
    let value = try result.get()
    if isCut { throw CancellationError() }
    return value
  }
}
