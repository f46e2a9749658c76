/// Runs tasks on behalf of whoever reads their results; stops with the last reference.
final class TaskResultsDriver: Sendable {
  private let work: Task<Void, Never>

  init(_ work: Task<Void, Never>) { self.work = work }

  deinit { work.cancel() }

  func cancel() { work.cancel() }

  /// Runs `body`, which reads the results; whoever cancels it cancels the tasks, which have ended when this returns.
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
    if Task.isCancelled { await work.value }  // it knows whether something was kept from the reader
    let isCut = desk.isCut
    desk.close()
    work.cancel()
    await work.value
    let value = try result.get()
    if isCut { throw CancellationError() }
    return value
  }
}
