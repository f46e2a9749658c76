/// The results of many tasks that come from a source which may fail, each with the task it belongs to.
///
/// What a task throws is its result. What the source throws ends the results: no further task is taken, those under way
/// finish, their results are handed over, and then the error is thrown.
public struct ThrowingTaskResults<Described: PayloadDownloadingTask>: AsyncSequence, Sendable {
  /// A task and what came of it.
  public typealias Element = (task: Described, result: Result<Described.DownloadPayload, any Error>)
  /// What the source throws.
  public typealias Failure = any Error

  let desk: TaskWindowDesk<Described, any Error>
  let driver: TaskResultsDriver?

  /// How far they are at this moment.
  public var progress: TaskBatchProgress { desk.progress }

  /// Reads results.
  public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
    let results: ThrowingTaskResults

    /// The next result; nil when all have come. When the surrounding task is cancelled,
    /// those under way come as `.failure(CancellationError())`, at least one, and then nil.
    /// Throws what the source of the tasks has thrown.
    public mutating func next() async throws -> Element? {
      let outcome = try await withTaskCancellationHandler {
        try await results.desk.next()
      } onCancel: { [driver = results.driver] in
        driver?.cancel()
      }
      return outcome.map { ($0.task, $0.result) }
    }
  }

  /// Begins to read.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(results: self) }
}
