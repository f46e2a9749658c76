import Dispatch
import Errand

/// Runs something that may hang, and does not wait for it past a limit.
///
/// What hangs is cancelled and left behind, for it may never heed that. The clock is a queue's, with a thread of its own:
/// something that blocks the threads of Swift's tasks does not stop it.
package final class Deadline<Value: Sendable>: Sendable {
  private let limit: Duration
  private let waiter = Lock<CheckedContinuation<Value, any Error>?>(nil)

  package init(_ limit: Duration) { self.limit = limit }

  /// Runs `body`; throws ``TransportConformance/Failure`` when it has not ended within the limit.
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
        resume(with: .failure(TransportConformance.Failure("it did not end within \(limit)")))
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
