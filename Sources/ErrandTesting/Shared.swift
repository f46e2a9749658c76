import Errand

/// A lock-protected value shared by a test and the code it observes.
package final class Shared<Value>: Sendable {
  private let lock: Lock<Value>

  package init(_ value: consuming sending Value) { lock = Lock(value) }

  package func withLock<Result, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    try lock.withLock(body)
  }
}
