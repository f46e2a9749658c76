import Errand

/// A value behind a lock that several hold: the parts of a test and the code it watches.
package final class Shared<Value>: Sendable {
  private let lock: Lock<Value>

  package init(_ value: consuming sending Value) { lock = Lock(value) }

  /// Runs `body` with the value, alone.
  package func withLock<Result, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    try lock.withLock(body)
  }
}
