import ErrandFoundation

/// Why a ``MockServer`` could not start, or could not go on.
public struct MockServerError: Error, Sendable, CustomStringConvertible {
  /// The attempt, and the system's word for its failure.
  public let description: String

  init(_ description: String) { self.description = description }

  /// The failure that the last system call left in `errno`.
  static func system(_ call: String) -> MockServerError {
    let code = errno
    return MockServerError("\(call): \(String(cString: strerror(code))) (errno \(code))")
  }

  /// Something was awaited of a server that has stopped.
  static let stopped = MockServerError("the mock server has stopped")
}
