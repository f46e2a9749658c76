/// The results of many tasks, each with the task it belongs to.
///
/// They are handed over as they finish or in the order of the tasks, see ``ResultOrder``. Several may read: each result
/// goes to one of them. The error of a task is its result. `Failure` is the error of the source, `Never` for a sequence: it
/// ends the results. No further task is taken, those under way finish, their results are handed over, and then the error
/// is thrown.
public struct TaskResults<Described: PayloadDownloadingTask, Failure: Error>: AsyncSequence, Sendable {
  /// A task as it was declared, without modifiers, and its result.
  public typealias Element = (task: Described.Unmodified, result: Result<Described.DownloadPayload, any Error>)

  let desk: TaskWindowDesk<Described, Failure>
  let driver: TaskResultsDriver

  init(
    of tasks: sending TaskSource<Described, Failure>, on server: Server?, limit: Int, order: ResultOrder
  ) {
    let window = TaskWindow<TaskWindowDesk<Described, Failure>.Outcome, Failure>(
      limit: limit, order: order, expected: tasks.expected)
    let desk = TaskWindowDesk(window, on: server)
    self.desk = desk
    driver = TaskResultsDriver(Task { await desk.run(tasks) }) { desk.close() }
  }

  /// The progress at this moment.
  public var progress: TaskBatchProgress { desk.progress }

  /// Reads results.
  public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
    let results: TaskResults

    /// The next result; nil when all have come. When the surrounding task is cancelled,
    /// those under way come as `.failure(CancellationError())`, at least one, and then nil.
    /// Throws the error of the source.
    public mutating func next() async throws(Failure) -> Element? {
      let outcome = await withTaskCancellationHandler {
        await results.desk.nextResult()
      } onCancel: { [driver = results.driver] in
        driver.cancel()
      }
      return try outcome.get().map { ($0.task, $0.result) }
    }
  }

  /// Begins to read.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(results: self) }
}

/// The order in which the results of many tasks are handed over.
public enum ResultOrder: Sendable {
  /// As they finish: no result waits for a slow task.
  case finished
  /// In the order of the tasks. Those that finish early wait for the ones before them, and count to the window
  /// meanwhile, so that a slow one holds up the rest after a window and not before.
  case submitted
}

/// Runs tasks for the readers of their results; stops with the last reference.
final class TaskResultsDriver: Sendable {
  private let work: Task<Void, Never>
  private let onRelease: @Sendable () -> Void

  /// A driver of `work`; `onRelease` is called where nobody can read its results any more.
  init(_ work: Task<Void, Never>, onRelease: @escaping @Sendable () -> Void) {
    self.work = work
    self.onRelease = onRelease
  }

  deinit {
    onRelease()
    work.cancel()
  }

  func cancel() { work.cancel() }

  /// Runs `body`, which reads the results. Cancelling it cancels the tasks, which have ended when this returns.
  ///
  /// - Parameters:
  ///   - desk: Where the results are.
  ///   - body: What to run.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, and `CancellationError` where a cancellation kept results from it.
  func scoped<Described, Failure, Value: Sendable>(
    _ desk: TaskWindowDesk<Described, Failure>, _ body: () async throws -> Value
  ) async throws -> Value {
    let result: Result<Value, any Error>
    do {
      result = .success(try await withTaskCancellationHandler(operation: body) { work.cancel() })
    } catch {
      result = .failure(error)
    }
    if Task.isCancelled {
      work.cancel()  // the cancellation may have come after the body, and with it the handler, had gone
      await work.value  // it knows whether something was kept from the reader
    }
    let isCut = desk.isCut
    desk.close()
    work.cancel()
    await work.value
    let value = try result.get()
    if isCut { throw CancellationError() }
    return value
  }
}
