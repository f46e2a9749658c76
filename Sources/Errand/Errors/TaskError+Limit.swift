extension CallClock {
  /// Runs `body` under a time limit, if there is one.
  ///
  /// - Parameters:
  ///   - limit: The time that it may take; nil is no limit.
  ///   - timer: The limit's name.
  ///   - phase: The stage of the call.
  ///   - body: The code to run; it must heed cancellation.
  /// - Returns: What `body` returns.
  /// - Throws: What `body` throws, or ``TaskError`` with code `.timedOut`.
  func limiting<Value: Sendable>(
    _ limit: Duration?, _ timer: Timeouts.Timer, phase: TaskError.Phase,
    _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    guard let limit else { return try await body() }
    guard let value = try await within(limit, body) else {
      throw TaskError.timeout(timer, after: limit, phase: phase, isSurelyNotSent: true)
    }
    return value
  }
}
