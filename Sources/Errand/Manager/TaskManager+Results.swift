extension TaskManager {
  /// Runs many tasks, a window of them at a time, and hands their results over as they finish.
  ///
  ///     let total = await shop.manager.withResults(of: orders.map(GetOrder.init), limit: 8) { results in
  ///       await results.reduce(0) { $0 + ((try? $1.result.get())?.total ?? 0) }
  ///     }
  ///
  /// Every task has ended when this returns: what `body` did not wait for is cancelled. Tasks are taken from the
  /// sequence as there is room, and wait while results are not read, so that a million of them need the memory of a
  /// window.
  ///
  /// - Parameters:
  ///   - tasks: The tasks, taken one by one.
  ///   - limit: How many run at once, and how many results may wait to be read.
  ///   - body: Reads the results.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws.
  public nonisolated func withResults<Tasks: Sequence & Sendable, Value: Sendable>(
    of tasks: Tasks, limit: Int = 8, _ body: @Sendable (TaskResults<Tasks.Element>) async throws -> Value
  ) async rethrows -> Value where Tasks.Element: PayloadDownloadingTask {
    let channel = BoundedChannel<TaskResults<Tasks.Element>.Element>(capacity: limit)
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await Self.run(tasks, limit, into: channel) }
      defer {
        group.cancelAll()
        channel.finish()
      }
      return try await body(TaskResults(channel: channel, driver: nil))
    }
  }

  /// The results of many tasks, a window of them at a time, as they finish.
  ///
  ///     for await (task, result) in shop.manager.results(of: (1...500).map(GetWidget.init), limit: 8) { … }
  ///
  /// Leaving the loop cancels what is under way. Where it matters that everything has ended by then, use
  /// ``withResults(of:limit:_:)``.
  ///
  /// - Parameters:
  ///   - tasks: The tasks, taken one by one.
  ///   - limit: How many run at once, and how many results may wait to be read.
  /// - Returns: The results.
  public nonisolated func results<Tasks: Sequence & Sendable>(
    of tasks: Tasks, limit: Int = 8
  ) -> TaskResults<Tasks.Element> where Tasks.Element: PayloadDownloadingTask {
    let channel = BoundedChannel<TaskResults<Tasks.Element>.Element>(capacity: limit)
    let work = Task { await Self.run(tasks, limit, into: channel) }
    return TaskResults(channel: channel, driver: .init(work))
  }

  private static func run<Tasks: Sequence & Sendable>(
    _ tasks: Tasks, _ limit: Int, into channel: BoundedChannel<TaskResults<Tasks.Element>.Element>
  ) async where Tasks.Element: PayloadDownloadingTask {
    await withTaskGroup(of: Void.self) { group in
      var running = 0
      for task in tasks {
        if running >= max(1, limit) {
          await group.next()
          running -= 1
        }
        if Task.isCancelled { break }
        running += 1
        group.addTask {
          do {
            await channel.send((task, .success(try await task.download())))
          } catch {
            await channel.send((task, .failure(error)))
          }
        }
      }
    }
    channel.finish()
  }
}
