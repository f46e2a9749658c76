import Dispatch
import Errand

/// Runs code that may hang and stops waiting for it after a time limit.
///
/// Code that hangs is cancelled and abandoned, because it may ignore the cancellation. The timer runs on a dispatch
/// queue, so it fires even if the code blocks the threads that run Swift's tasks.
package final class Deadline<Value: Sendable>: Sendable {
  private let limit: Duration
  private let waiter = Lock<CheckedContinuation<Value, any Error>?>(nil)

  package init(_ limit: Duration) { self.limit = limit }

  /// Runs `body`. Throws ``TransportConformance/Failure`` if it does not end within the limit.
  package func run(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      waiter.withLock { $0 = continuation }
      let work = Task {
        do {
          resume(with: .success(try await body()))
        } catch {
          resume(with: .failure(error))
        }
      }
      let seconds = Double(limit.components.seconds) + Double(limit.components.attoseconds) / 1e18
      DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [self, limit] in
        resume(with: .failure(TransportConformance.Failure("it did not finish within \(limit)")))
        work.cancel()
      }
    }
  }

  private func resume(with result: Result<Value, any Error>) {
    let continuation = waiter.withLock { waiter in
      defer { waiter = nil }
      return waiter
    }
    continuation?.resume(with: result)
  }
}
