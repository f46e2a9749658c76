/// The results of many tasks as they finish, each with the task it belongs to.
public struct TaskResults<Described: PayloadDownloadingTask>: AsyncSequence, Sendable {
  /// A task and what came of it.
  public typealias Element = (task: Described, result: Result<Described.DownloadPayload, any Error>)
  /// Failures are results.
  public typealias Failure = Never

  let channel: BoundedChannel<Element>
  let driver: Driver?

  /// Runs the tasks on behalf of whoever reads; stops with the last reference.
  final class Driver: Sendable {
    private let work: Task<Void, Never>

    init(_ work: Task<Void, Never>) { self.work = work }

    deinit { work.cancel() }
  }

  /// Reads results.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let results: TaskResults

    /// The next result; nil when all have come, or when the surrounding task was cancelled.
    public mutating func next() async -> Element? { await results.channel.next() }
  }

  /// Begins to read.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(results: self) }
}
