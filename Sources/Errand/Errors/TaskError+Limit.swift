extension TaskError {
  /// Whether the error has no request and no task yet.
  var isUnattributed: Bool { url == nil && task == nil }

  /// Names `setting` in the reason as the setting that the exceeded limit came from.
  mutating func attributeLimit(to setting: String) {
    guard let timer, let name = reason.firstRange(of: timer.words) else { return }
    reason.replaceSubrange(name, with: "the time limit '\(setting)'\(timer.part)")
  }
}

extension Timeouts.Timer {
  var words: String {
    switch self {
    case .call: "the deadline ('timeouts.call')"
    case .attempt: "the attempt's time limit"
    case .queue, .connect, .firstByte, .idle: "the time limit 'timeouts.\(rawValue)'"
    }
  }

  /// The part of the call that the limit applies to. Empty for an attempt or a call.
  fileprivate var part: String {
    switch self {
    case .queue: " (for waiting for a slot)"
    case .connect: " (for connecting)"
    case .firstByte: " (for the response head)"
    case .idle: " (for pauses in the body)"
    case .attempt, .call: ""
    }
  }
}

extension CallClock {
  /// Runs `body` with a time limit, if any. `body` must respond to cancellation.
  ///
  /// Throws ``TaskError`` with code `.timedOut` if the time limit expires.
  package func limiting<Value: Sendable>(
    _ limit: Duration?, _ timer: Timeouts.Timer, phase: TaskError.Phase,
    _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    guard let limit else { return try await body() }
    guard let value = try await within(limit, body) else {
      throw TaskError.timeout(timer, after: limit, phase: phase, wasNotSent: phase == .waiting || phase == .preparing)
    }
    return value
  }
}
