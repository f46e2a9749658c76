/// A handle to a task that was started without awaiting it.
///
///     let export = shop.manager.start(Export())
///     for await event in export.events { print(event.moment) }
///     let report = try await export.value
///
/// The call continues if the handle is released, unless the handle is ``scoped``. The call is throttled, retried and
/// recorded like any other call and can be cancelled with `cancelAll()`, by tag or by type.
public final class TaskHandle<Value: Sendable>: Sendable {
  private let work: HandleWork<Value>
  private let lifetime: TaskHandleLifetime

  init(_ work: HandleWork<Value>, _ lifetime: TaskHandleLifetime) {
    self.work = work
    self.lifetime = lifetime
    work.retain()
  }

  deinit {
    if lifetime == .scoped { work.run.cancel() }
    work.release()
  }

  /// A handle to the same call that cancels the call when released. The original handle does not change.
  public var scoped: TaskHandle<Value> { TaskHandle(work, .scoped) }

  /// The task's state.
  public var state: TaskHandleState { work.run.handleState }

  /// The task's result. Reading it waits until the call has ended.
  ///
  /// You can read the result any number of times. After ``retry()``, it is the result of the new call. If the Swift
  /// task that waits for the result is cancelled, it stops waiting and the call continues.
  ///
  /// Throws ``TaskError``, any error thrown by a hook, or `CancellationError` if the call or the waiter was cancelled.
  public var value: Value {
    get async throws {
      defer { withExtendedLifetime(self) {} }  // keeps a scoped call running while its value is awaited
      return try await work.run.value()
    }
  }

  /// The call's events from its start. The stream ends with the call.
  ///
  /// Every access returns a new stream. The stream begins with the earlier events and buffers the newest 1,000 unread
  /// events. If there are more than 1,000 earlier events, it begins with the first 999 and the last. It does not retain
  /// the handle: keep a ``scoped`` handle as long as its call should run.
  public var events: AsyncStream<TaskEvent> { work.run.events() }

  /// The progress of the request and response bodies, starting with the latest update. The stream ends with the call.
  ///
  ///     for await progress in export.progress { bar.show(progress.fraction) }
  ///
  /// Updates arrive at most 20 times a second, and at the end of each body. A slow reader receives only the latest
  /// update. Every access returns a new stream, which does not retain the handle. A call that shares another call's
  /// request does not report progress.
  public var progress: AsyncStream<TransferProgress> { work.run.transfers() }

  /// Cancels the call, which then throws `CancellationError`. Does nothing if the call has ended.
  public func cancel() { work.run.cancel() }

  /// Pauses the call before its next attempt, or while the response body is being read.
  ///
  /// An attempt that is waiting for a network, its slot or its response continues until the body arrives. The body is
  /// then left unread, so the server has to wait. The call keeps its slot, its connection and its place in a serial
  /// queue.
  ///
  /// Time limits still apply. If the attempt's limit expires during a pause, the attempt fails when the call is resumed.
  /// If the call's deadline expires, the call ends. A paused call is resumed when its last handle is released, because
  /// nothing else could resume it.
  ///
  /// - Returns: Whether the call was paused. `false` if it was already paused or had ended.
  @discardableResult
  public func pause() -> Bool { work.run.pause() }

  /// Resumes a paused call where it stopped. The next attempt's request is built after the call is resumed.
  ///
  /// - Returns: Whether the call was resumed. `false` if it was not paused.
  @discardableResult
  public func resume() -> Bool { work.run.resume() }

  /// Runs the task again after it failed or was cancelled. The handle then refers to the new call, which uses the
  /// server's current settings and tokens. If another user has signed in since, don't retry the handles of the previous
  /// user.
  ///
  /// - Returns: Whether the task was started again. `false` if it is still running or has succeeded.
  @discardableResult
  public func retry() -> Bool { work.retry() }
}

/// A started task's state.
public enum TaskHandleState: Sendable, Hashable {
  /// Waiting for a serial queue, a slot or the next attempt.
  case waiting
  /// An attempt is running.
  case running
  /// Paused until it is resumed.
  case paused
  /// The task succeeded.
  case succeeded
  /// The task failed with an error.
  case failed
  /// The task was cancelled.
  case cancelled

  /// Whether the task has succeeded, failed or been cancelled.
  public var isOver: Bool {
    switch self {
    case .waiting, .running, .paused: false
    case .succeeded, .failed, .cancelled: true
    }
  }
}

/// How long a started task runs.
public enum TaskHandleLifetime: Sendable, Hashable {
  /// Until it ends, even if the handle is released.
  case managed
  /// Until it ends or the handle is released, whichever comes first.
  case scoped
}
