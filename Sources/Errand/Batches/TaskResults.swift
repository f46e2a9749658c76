/// The results of many tasks, each with the task it belongs to.
///
/// They are handed over as they finish or in the order of the tasks, see ``ResultOrder``. Several may read: each result
/// goes to one of them.
public struct TaskResults<Described: PayloadDownloadingTask>: AsyncSequence, Sendable {
  /// A task and what came of it.
  public typealias Element = (task: Described, result: Result<Described.DownloadPayload, any Error>)
  /// Failures are results.
  public typealias Failure = Never

  let desk: TaskWindowDesk<Described, Never>
  let driver: TaskResultsDriver?

  /// How far they are at this moment.
  public var progress: TaskBatchProgress { desk.progress }

  /// Reads results.
  public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
    let results: TaskResults

    /// The next result; nil when all have come. When the surrounding task is cancelled,
    /// those under way come as `.failure(CancellationError())`, at least one, and then nil.
    public mutating func next() async -> Element? {
      let outcome = await withTaskCancellationHandler {
        await results.desk.next()
      } onCancel: { [driver = results.driver] in
        driver?.cancel()
      }
      return outcome.map { ($0.task, $0.result) }
    }
  }

  /// Begins to read.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(results: self) }
}
