/// A task that waits for an answer; its owner resumes it once.
package typealias Waiter<Answer> = UnsafeContinuation<Answer, Never>

/// Waits for an answer, or for the surrounding task to be cancelled: everything in the library that waits waits here.
///
///     let isAdmitted = await answer { waiter in
///       state.withLock { $0.line.keep(waiter, ticket) }   // the answer, where there is one already
///     } onCancel: {
///       abandon(ticket)                                   // resumes the waiter, or has `keep` answer
///     }
///
/// - Parameters:
///   - keep: Returns the answer where there is one already. Otherwise it keeps the waiter, and the owner resumes that
///     exactly once, after a cancellation too.
///   - cancel: Has the waiter resumed. It is called at most once, from any thread, and may come before `keep`.
/// - Returns: The answer.
@inline(__always)
package func answer<Answer: Sendable>(
  _ keep: (Waiter<Answer>) -> Answer?, onCancel cancel: @Sendable () -> Void
) async -> Answer {
  await withTaskCancellationHandler {
    await withUnsafeContinuation { waiter in
      if let answer = keep(waiter) { waiter.resume(returning: answer) }
    }
  } onCancel: {
    cancel()
  }
}

/// Waits for an answer that a cancellation does not hasten: its owner sees to it that it comes.
@inline(__always)
package func answer<Answer: Sendable>(_ keep: (Waiter<Answer>) -> Answer?) async -> Answer {
  await withUnsafeContinuation { waiter in
    if let answer = keep(waiter) { waiter.resume(returning: answer) }
  }
}

/// Something under way that can be told to end.
package protocol Cancellable: Sendable {
  /// Ends it; its waiters get `CancellationError`. May be called at any time, and more than once.
  func cancel()
}

extension Task: Cancellable {}
