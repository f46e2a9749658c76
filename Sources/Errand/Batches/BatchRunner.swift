/// A runner of many tasks: a ``TaskManager``, which runs each on the task's own server, or a ``Server``, which runs all of
/// them on itself.
public protocol BatchRunner: Sendable {
  /// The server that all tasks run on; nil where each runs on its own.
  var batchServer: Server? { get }
}

extension TaskManager: BatchRunner {
  /// Nil: each task runs on its own server.
  public nonisolated var batchServer: Server? { nil }
}

extension Server: BatchRunner {
  /// This server.
  public nonisolated var batchServer: Server? { self }
}

extension BatchRunner {
  /// Runs many tasks, a window of them at a time, and hands their results over.
  ///
  ///     let total = try await shop.withResults(of: orders.map(GetOrder.init), limit: 8) { results in
  ///       await results.reduce(0) { $0 + ((try? $1.result.get())?.total ?? 0) }
  ///     }
  ///
  /// Every task has ended when this returns: what `body` did not wait for is cancelled, and `body` may stop at any
  /// result, by leaving its loop or by throwing. Tasks are taken from the sequence as there is room, never more than
  /// twice `limit` ahead of what was read, so that a million of them need the memory of a window.
  ///
  /// - Parameters:
  ///   - tasks: The tasks, taken one by one.
  ///   - limit: How many run at once. Twice as many may be under way or wait to be read.
  ///   - order: In which order the results come.
  ///   - body: Reads the results.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, and `CancellationError` where it was cancelled before all results were read.
  public func withResults<Tasks: Sequence & SendableMetatype, Value: Sendable>(
    of tasks: sending Tasks, limit: Int = 8, order: ResultOrder = .finished,
    _ body: @Sendable (TaskResults<Tasks.Element, Never>) async throws -> Value
  ) async throws -> Value where Tasks.Element: PayloadDownloadingTask {
    try await scoped(TaskResults(of: TaskSource(tasks), on: batchServer, limit: limit, order: order), body)
  }

  /// The results of many tasks, a window of them at a time.
  ///
  ///     for await (task, result) in shop.results(of: (1...500).map(GetWidget.init), limit: 8) { … }
  ///
  /// Leaving the loop cancels the tasks in flight. A loop that is cancelled gets the tasks in flight as
  /// `.failure(CancellationError())`, at least one result. Where it matters that everything has ended by then, use
  /// `withResults(of:limit:order:_:)`.
  ///
  /// - Parameters:
  ///   - tasks: The tasks, taken one by one.
  ///   - limit: How many run at once. Twice as many may be under way or wait to be read.
  ///   - order: In which order the results come.
  /// - Returns: The results.
  public func results<Tasks: Sequence & SendableMetatype>(
    of tasks: sending Tasks, limit: Int = 8, order: ResultOrder = .finished
  ) -> TaskResults<Tasks.Element, Never> where Tasks.Element: PayloadDownloadingTask {
    TaskResults(of: TaskSource(tasks), on: batchServer, limit: limit, order: order)
  }

  /// Downloads what many tasks describe, a window of them at a time, all or nothing.
  ///
  ///     let widgets = try await shop.downloads(of: (1...20).map(GetWidget.init), limit: 4)
  ///
  /// The first task to fail ends it: the others are cancelled, and have ended when this throws.
  ///
  /// - Parameters:
  ///   - tasks: The tasks, taken one by one.
  ///   - limit: How many run at once.
  /// - Returns: The payloads, in the order of the tasks.
  /// - Throws: What the first task to fail throws, and `CancellationError` when the surrounding task is cancelled.
  public func downloads<Tasks: Sequence & SendableMetatype>(
    of tasks: sending Tasks, limit: Int = 8
  ) async throws -> [Tasks.Element.DownloadPayload] where Tasks.Element: PayloadDownloadingTask {
    try await payloads(of: TaskSource(tasks), limit: limit)
  }
}

extension BatchRunner {
  /// Runs many tasks that come one after the other, a window of them at a time, and hands their results over.
  ///
  /// For tasks that have to be waited for: read from a file or a database, or found while others run. Otherwise it is as
  /// with a sequence; every task has ended when this returns.
  ///
  /// - Parameters:
  ///   - tasks: The tasks, taken one by one.
  ///   - limit: How many run at once. Twice as many may be under way or wait to be read.
  ///   - order: In which order the results come.
  ///   - body: Reads the results; what `tasks` throws comes after the last of them.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, and `CancellationError` where it was cancelled before all results were read.
  public func withResults<Tasks: AsyncSequence & SendableMetatype, Value: Sendable>(
    of tasks: sending Tasks, limit: Int = 8, order: ResultOrder = .finished,
    _ body: @Sendable (TaskResults<Tasks.Element, any Error>) async throws -> Value
  ) async throws -> Value where Tasks.Element: PayloadDownloadingTask {
    try await scoped(TaskResults(of: TaskSource(tasks), on: batchServer, limit: limit, order: order), body)
  }

  /// The results of many tasks that come one after the other, a window of them at a time.
  ///
  /// Leaving the loop cancels the tasks in flight. A loop that is cancelled gets the tasks in flight as
  /// `.failure(CancellationError())`, at least one result.
  ///
  /// - Parameters:
  ///   - tasks: The tasks, taken one by one.
  ///   - limit: How many run at once. Twice as many may be under way or wait to be read.
  ///   - order: In which order the results come.
  /// - Returns: The results; what `tasks` throws comes after the last of them.
  public func results<Tasks: AsyncSequence & SendableMetatype>(
    of tasks: sending Tasks, limit: Int = 8, order: ResultOrder = .finished
  ) -> TaskResults<Tasks.Element, any Error> where Tasks.Element: PayloadDownloadingTask {
    TaskResults(of: TaskSource(tasks), on: batchServer, limit: limit, order: order)
  }

  /// Downloads what many tasks describe that come one after the other, a window of them at a time, all or nothing.
  ///
  /// The first failure ends it, of a task or of the source: the others are cancelled, and have ended when this throws.
  ///
  /// - Parameters:
  ///   - tasks: The tasks, taken one by one.
  ///   - limit: How many run at once.
  /// - Returns: The payloads, in the order of the tasks.
  /// - Throws: What the first task to fail throws, or `tasks` if that comes first, and `CancellationError` when the
  ///   surrounding task is cancelled.
  public func downloads<Tasks: AsyncSequence & SendableMetatype>(
    of tasks: sending Tasks, limit: Int = 8
  ) async throws -> [Tasks.Element.DownloadPayload] where Tasks.Element: PayloadDownloadingTask {
    try await payloads(of: TaskSource(tasks), limit: limit)
  }
}

extension BatchRunner {
  /// Runs `body` over the results; every task has ended when this returns.
  private func scoped<Described, Failure, Value: Sendable>(
    _ results: TaskResults<Described, Failure>, _ body: (TaskResults<Described, Failure>) async throws -> Value
  ) async throws -> Value {
    try await results.driver.scoped(results.desk) { try await body(results) }
  }

  /// The payloads of all tasks, in their order; the first failure, of a task or of the source, ends the others.
  private func payloads<Described: PayloadDownloadingTask, Failure>(
    of tasks: sending TaskSource<Described, Failure>, limit: Int
  ) async throws -> [Described.DownloadPayload] {
    let window = TaskWindow<TaskWindowDesk<Described, Failure>.Outcome, Failure>(
      limit: limit, order: .finished, sourceFailure: .first)
    let desk = TaskWindowDesk(window, on: batchServer)
    async let _ = desk.run(tasks)
    defer { desk.close() }
    return try await desk.payloads()
  }
}
