extension CallClock {
  /// Runs `body` under a time limit, if there is one.
  ///
  /// - Parameters:
  ///   - limit: How long it may take; nil is no limit.
  ///   - timer: What the error names.
  ///   - phase: What the error says was under way.
  ///   - body: What to run; it must heed cancellation.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, or ``TaskError`` with code `.timedOut`.
  func limiting<Value: Sendable>(
    _ limit: Duration?, _ timer: Timeouts.Timer, phase: TaskError.Phase,
    _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    guard let limit else { return try await body() }
    return try await withThrowingTaskGroup(of: Value.self) { group in
      group.addTask { try await body() }
      group.addTask {
        try await sleep(for: limit)
        throw TaskError.timeout(timer, after: limit, phase: phase, isSurelyNotSent: true)
      }
      defer { group.cancelAll() }
      guard let value = try await group.next() else { throw CancellationError() }
      return value
    }
  }
}
