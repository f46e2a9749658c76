extension TaskManager {
  /// Runs many tasks, a window of them at a time, and hands their results over.
  ///
  ///     let total = try await shop.manager.withResults(of: orders.map(GetOrder.init), limit: 8) { results in
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
  public nonisolated func withResults<Tasks: Sequence & SendableMetatype, Value: Sendable>(
    of tasks: sending Tasks, limit: Int = 8, order: ResultOrder = .finished,
    _ body: @Sendable (TaskResults<Tasks.Element>) async throws -> Value
  ) async throws -> Value where Tasks.Element: PayloadDownloadingTask {
    let desk = TaskWindowDesk<Tasks.Element, Never>(
      TaskWindow(limit: limit, order: order, expected: tasks.underestimatedCount))
    let driver = TaskResultsDriver(Task { await desk.run(TaskSource(tasks)) })
    return try await driver.scoped(desk) { try await body(TaskResults(desk: desk, driver: driver)) }
  }

  /// The results of many tasks, a window of them at a time.
  ///
  ///     for await (task, result) in shop.manager.results(of: (1...500).map(GetWidget.init), limit: 8) { … }
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
  public nonisolated func results<Tasks: Sequence & SendableMetatype>(
    of tasks: sending Tasks, limit: Int = 8, order: ResultOrder = .finished
  ) -> TaskResults<Tasks.Element> where Tasks.Element: PayloadDownloadingTask {
    let desk = TaskWindowDesk<Tasks.Element, Never>(
      TaskWindow(limit: limit, order: order, expected: tasks.underestimatedCount))
    let work = Task { await desk.run(TaskSource(tasks)) }
    return TaskResults(desk: desk, driver: TaskResultsDriver(work))
  }

  /// Downloads what many tasks describe, a window of them at a time, all or nothing.
  ///
  ///     let widgets = try await shop.manager.downloads(of: (1...20).map(GetWidget.init), limit: 4)
  ///
  /// The first task to fail ends it: the others are cancelled, and have ended when this throws.
  ///
  /// - Parameters:
  ///   - tasks: The tasks, taken one by one.
  ///   - limit: How many run at once.
  /// - Returns: The payloads, in the order of the tasks.
  /// - Throws: What the first task to fail throws, and `CancellationError` when the surrounding task is cancelled.
  public nonisolated func downloads<Tasks: Sequence & SendableMetatype>(
    of tasks: sending Tasks, limit: Int = 8
  ) async throws -> [Tasks.Element.DownloadPayload] where Tasks.Element: PayloadDownloadingTask {
    let desk = TaskWindowDesk<Tasks.Element, Never>(TaskWindow(limit: limit, order: .finished))
    async let _ = desk.run(TaskSource(tasks))
    defer { desk.close() }
    return try await desk.payloads()
  }
}

extension TaskManager {
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
  public nonisolated func withResults<Tasks: AsyncSequence & SendableMetatype, Value: Sendable>(
    of tasks: sending Tasks, limit: Int = 8, order: ResultOrder = .finished,
    _ body: @Sendable (ThrowingTaskResults<Tasks.Element>) async throws -> Value
  ) async throws -> Value where Tasks.Element: PayloadDownloadingTask {
    let desk = TaskWindowDesk<Tasks.Element, any Error>(TaskWindow(limit: limit, order: order))
    let driver = TaskResultsDriver(Task { await desk.run(TaskSource(tasks)) })
    return try await driver.scoped(desk) { try await body(ThrowingTaskResults(desk: desk, driver: driver)) }
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
  public nonisolated func results<Tasks: AsyncSequence & SendableMetatype>(
    of tasks: sending Tasks, limit: Int = 8, order: ResultOrder = .finished
  ) -> ThrowingTaskResults<Tasks.Element> where Tasks.Element: PayloadDownloadingTask {
    let desk = TaskWindowDesk<Tasks.Element, any Error>(TaskWindow(limit: limit, order: order))
    let work = Task { await desk.run(TaskSource(tasks)) }
    return ThrowingTaskResults(desk: desk, driver: TaskResultsDriver(work))
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
  public nonisolated func downloads<Tasks: AsyncSequence & SendableMetatype>(
    of tasks: sending Tasks, limit: Int = 8
  ) async throws -> [Tasks.Element.DownloadPayload] where Tasks.Element: PayloadDownloadingTask {
    let desk = TaskWindowDesk<Tasks.Element, any Error>(
      TaskWindow(limit: limit, order: .finished, sourceFailure: .first))
    async let _ = desk.run(TaskSource(tasks))
    defer { desk.close() }
    return try await desk.payloads()
  }
}
