/// A type that runs many tasks. A ``TaskManager`` runs each task on the task's own server, and a ``Server`` runs every
/// task on itself.
public protocol BatchRunner: Sendable {
  /// The server that runs all tasks. `nil` if each task runs on its own server.
  var batchServer: Server? { get }
}

extension TaskManager: BatchRunner {
  /// `nil`, so each task runs on its own server.
  public nonisolated var batchServer: Server? { nil }
}

extension Server: BatchRunner {
  /// This server.
  public nonisolated var batchServer: Server? { self }
}

extension BatchRunner {
  /// Runs many tasks, up to `limit` concurrently, and passes their results to a closure.
  ///
  ///     let total = try await shop.withResults(of: orders.map(GetOrder.init), limit: 8) { results in
  ///       await results.reduce(0) { $0 + ((try? $1.result.get())?.total ?? 0) }
  ///     }
  ///
  /// All tasks have ended when this method returns. If `body` stops reading early, by leaving its loop or by throwing,
  /// the remaining tasks are cancelled. Tasks are taken from the sequence lazily, so memory use does not depend on the
  /// number of tasks.
  ///
  /// - Parameters:
  ///   - tasks: The tasks to run. They are taken from the sequence one by one.
  ///   - limit: The maximum number of tasks that run concurrently. Defaults to 8. Up to twice as many can be running
  ///     or have unread results.
  ///   - order: The order of the results. Defaults to `.finished`.
  ///   - body: Reads the results.
  /// - Returns: The result of `body`.
  /// - Throws: Any error thrown by `body`, or `CancellationError` if cancelled before all results were read.
  public func withResults<Tasks: Sequence & SendableMetatype, Value: Sendable>(
    of tasks: sending Tasks, limit: Int = 8, order: ResultOrder = .finished,
    _ body: @Sendable (TaskResults<Tasks.Element, Never>) async throws -> Value
  ) async throws -> Value where Tasks.Element: PayloadDownloadingTask {
    try await scoped(TaskResults(of: TaskSource(tasks), on: batchServer, limit: limit, order: order), body)
  }

  /// Runs many tasks, up to `limit` concurrently, and returns their results as an asynchronous sequence.
  ///
  ///     for await (task, result) in shop.results(of: (1...500).map(GetWidget.init), limit: 8) { … }
  ///
  /// Leaving the loop cancels the tasks in flight, unless the app keeps the results. If the loop is cancelled, the result
  /// of at least one task in flight is `.failure(CancellationError())`. To wait until all tasks have ended, use
  /// `withResults(of:limit:order:_:)`.
  ///
  /// - Parameters:
  ///   - tasks: The tasks to run. They are taken from the sequence one by one.
  ///   - limit: The maximum number of tasks that run concurrently. Defaults to 8. Up to twice as many can be running
  ///     or have unread results.
  ///   - order: The order of the results. Defaults to `.finished`.
  /// - Returns: The results.
  public func results<Tasks: Sequence & SendableMetatype>(
    of tasks: sending Tasks, limit: Int = 8, order: ResultOrder = .finished
  ) -> TaskResults<Tasks.Element, Never> where Tasks.Element: PayloadDownloadingTask {
    TaskResults(of: TaskSource(tasks), on: batchServer, limit: limit, order: order)
  }

  /// Downloads the payloads of many tasks, up to `limit` concurrently, or throws the first error.
  ///
  ///     let widgets = try await shop.downloads(of: (1...20).map(GetWidget.init), limit: 4)
  ///
  /// The first failure cancels the other tasks. All tasks have ended when this method throws.
  ///
  /// - Parameters:
  ///   - tasks: The tasks to run. They are taken from the sequence one by one.
  ///   - limit: The maximum number of tasks that run concurrently. Defaults to 8.
  /// - Returns: The payloads, in the order of the tasks.
  /// - Throws: The error of the first task to fail, or `CancellationError` if the surrounding Swift task is cancelled.
  public func downloads<Tasks: Sequence & SendableMetatype>(
    of tasks: sending Tasks, limit: Int = 8
  ) async throws -> [Tasks.Element.DownloadPayload] where Tasks.Element: PayloadDownloadingTask {
    try await payloads(of: TaskSource(tasks), limit: limit)
  }
}

extension BatchRunner {
  /// Runs many tasks from an asynchronous sequence, up to `limit` concurrently, and passes their results to a closure.
  ///
  /// Use this method for tasks that are read from a file or a database, or that are discovered while other tasks run.
  /// All tasks have ended when this method returns.
  ///
  /// - Parameters:
  ///   - tasks: The tasks to run. They are taken from the sequence one by one.
  ///   - limit: The maximum number of tasks that run concurrently. Defaults to 8. Up to twice as many can be running
  ///     or have unread results.
  ///   - order: The order of the results. Defaults to `.finished`.
  ///   - body: Reads the results. If `tasks` throws, the results end with its error.
  /// - Returns: The result of `body`.
  /// - Throws: Any error thrown by `body`, or `CancellationError` if cancelled before all results were read.
  public func withResults<Tasks: AsyncSequence & SendableMetatype, Value: Sendable>(
    of tasks: sending Tasks, limit: Int = 8, order: ResultOrder = .finished,
    _ body: @Sendable (TaskResults<Tasks.Element, any Error>) async throws -> Value
  ) async throws -> Value where Tasks.Element: PayloadDownloadingTask {
    try await scoped(TaskResults(of: TaskSource(tasks), on: batchServer, limit: limit, order: order), body)
  }

  /// Runs many tasks from an asynchronous sequence, up to `limit` concurrently, and returns their results.
  ///
  /// Leaving the loop cancels the tasks in flight, unless the app keeps the results. If the loop is cancelled, the result
  /// of at least one task in flight is `.failure(CancellationError())`.
  ///
  /// - Parameters:
  ///   - tasks: The tasks to run. They are taken from the sequence one by one.
  ///   - limit: The maximum number of tasks that run concurrently. Defaults to 8. Up to twice as many can be running
  ///     or have unread results.
  ///   - order: The order of the results. Defaults to `.finished`.
  /// - Returns: The results. If `tasks` throws, the results end with its error.
  public func results<Tasks: AsyncSequence & SendableMetatype>(
    of tasks: sending Tasks, limit: Int = 8, order: ResultOrder = .finished
  ) -> TaskResults<Tasks.Element, any Error> where Tasks.Element: PayloadDownloadingTask {
    TaskResults(of: TaskSource(tasks), on: batchServer, limit: limit, order: order)
  }

  /// Downloads the payloads of many tasks from an asynchronous sequence, up to `limit` concurrently, or throws the
  /// first error.
  ///
  /// The first failure of a task or of the sequence cancels the other tasks. All tasks have ended when this method
  /// throws.
  ///
  /// - Parameters:
  ///   - tasks: The tasks to run. They are taken from the sequence one by one.
  ///   - limit: The maximum number of tasks that run concurrently. Defaults to 8.
  /// - Returns: The payloads, in the order of the tasks.
  /// - Throws: The first error thrown by a task or by `tasks`, or `CancellationError` if the surrounding Swift task is
  ///   cancelled.
  public func downloads<Tasks: AsyncSequence & SendableMetatype>(
    of tasks: sending Tasks, limit: Int = 8
  ) async throws -> [Tasks.Element.DownloadPayload] where Tasks.Element: PayloadDownloadingTask {
    try await payloads(of: TaskSource(tasks), limit: limit)
  }
}

extension BatchRunner {
  private func scoped<Described, Failure, Value: Sendable>(
    _ results: TaskResults<Described, Failure>, _ body: (TaskResults<Described, Failure>) async throws -> Value
  ) async throws -> Value {
    try await results.driver.scoped(results.coordinator) { try await body(results) }
  }

  private func payloads<Described: PayloadDownloadingTask, Failure>(
    of tasks: sending TaskSource<Described, Failure>, limit: Int
  ) async throws -> [Described.DownloadPayload] {
    let window = TaskWindow<BatchCoordinator<Described, Failure>.Completion, Failure>(
      limit: limit, order: .finished, sourceFailure: .first)
    let coordinator = BatchCoordinator(window, on: batchServer)
    async let _ = coordinator.run(tasks)
    defer { coordinator.close() }
    return try await coordinator.payloads()
  }
}
