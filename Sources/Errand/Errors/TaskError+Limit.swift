extension TaskError {
  /// True until a call has said that the error is its own.
  var isUnattributed: Bool { url == nil && task == nil }

  /// Names the setting that the limit was taken from, where that is not the limit's own.
  mutating func attributeLimit(to setting: String) {
    guard let timer, let name = reason.firstRange(of: timer.words) else { return }
    reason.replaceSubrange(name, with: "the time limit '\(setting)'\(timer.part)")
  }
}

extension Timeouts.Timer {
  /// The limit as settings and modifiers call it.
  var words: String {
    switch self {
    case .call: "the deadline ('timeouts.call')"
    case .attempt: "the attempt's time limit"
    case .queue, .connect, .firstByte, .idle: "the time limit 'timeouts.\(rawValue)'"
    }
  }

  /// The part of a call that the limit is for; empty for an attempt, which is what a time limit is for unless it says more.
  fileprivate var part: String {
    switch self {
    case .queue: " (for the wait for a slot)"
    case .connect: " (for the connection)"
    case .firstByte: " (for the head of the response)"
    case .idle: " (for silence amid a body)"
    case .attempt, .call: ""
    }
  }
}

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
