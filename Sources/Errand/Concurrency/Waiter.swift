/// A task that waits for an answer. It must be resumed exactly once.
package typealias Waiter<Value> = UnsafeContinuation<Value, Never>

/// Waits for an answer. Calls `cancel` if the surrounding task is cancelled in the meantime.
///
///     let isAdmitted = await answer { waiter in
///       state.withLock { $0.line.keep(waiter, ticket) }  // the answer, if already known
///     } onCancel: {
///       abandon(ticket)  // resumes the waiter, or lets `keep` return the answer
///     }
///
/// - Parameters:
///   - keep: Returns the answer if it is already known. Otherwise, stores the waiter, which must then be resumed
///     exactly once, even after a cancellation.
///   - cancel: Causes the waiter to be resumed. Called at most once, from any thread, possibly before `keep`.
@inline(__always)
package func answer<Value: Sendable>(
  _ keep: (Waiter<Value>) -> Value?, onCancel cancel: @Sendable () -> Void
) async -> Value {
  await withTaskCancellationHandler {
    await withUnsafeContinuation { waiter in
      if let answer = keep(waiter) { waiter.resume(returning: answer) }
    }
  } onCancel: {
    cancel()
  }
}

/// Waits for an answer, regardless of cancellation. The waiter must always be resumed.
@inline(__always)
package func answer<Value: Sendable>(_ keep: (Waiter<Value>) -> Value?) async -> Value {
  await withUnsafeContinuation { waiter in
    if let answer = keep(waiter) { waiter.resume(returning: answer) }
  }
}

/// A running operation that can be cancelled.
package protocol Cancellable: Sendable {
  /// Cancels the operation. Its waiters receive `CancellationError`. Can be called at any time, and more than once.
  func cancel()
}

extension Task: Cancellable {}
