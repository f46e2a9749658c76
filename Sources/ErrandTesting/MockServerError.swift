import ErrandFoundation

/// The reason why a ``MockServer`` could not start or had to stop.
public struct MockServerError: Error, Sendable, CustomStringConvertible {
  /// The operation that failed, and the system's error message.
  public let description: String

  init(_ description: String) { self.description = description }

  /// Creates an error for the current value of `errno`.
  static func system(_ call: String) -> MockServerError {
    let code = errno
    return MockServerError("\(call): \(String(cString: strerror(code))) (errno \(code))")
  }

  static let stopped = MockServerError("the mock server has stopped")
}
