/// The handle of a task that runs without being awaited.
///
///     let export = shop.manager.start(Export())
///     for await event in export.events { print(event.moment) }
///     let report = try await export.value
///
/// The call goes on when the handle is released, unless it is ``scoped``. It is a call like any other: throttled,
/// retried, recorded, and cancelled by `cancelAll()`, by tag and by type.
public final class TaskHandle<Value: Sendable>: Sendable {
  private let desk: HandleRegistry<Value>
  private let lifetime: TaskHandleLifetime

  init(_ desk: HandleRegistry<Value>, _ lifetime: TaskHandleLifetime) {
    self.desk = desk
    self.lifetime = lifetime
    desk.retain()
  }

  deinit {
    if lifetime == .scoped { desk.cancel() }
    desk.release()
  }

  /// A handle of the same call that cancels it when released; this one stays as it is.
  public var scoped: TaskHandle<Value> { TaskHandle(desk, .scoped) }

  /// The state of the task.
  public var state: TaskHandleState { desk.handleState }

  /// The value that the task gives, once it has.
  ///
  /// May be read any number of times; after ``retry()`` it is what the new call gives. A Swift task that is cancelled
  /// while it waits here stops waiting, and the call goes on.
  ///
  /// Throws ``TaskError``, what a hook threw, or `CancellationError`: the call was cancelled, or the waiter.
  public var value: Value {
    get async throws {
      defer { withExtendedLifetime(self) {} }  // a scoped call lives while somebody waits for it
      return try await desk.value()
    }
  }

  /// The events of the call, from its start, whenever this is read; ends with the call.
  ///
  /// Each use is a sequence of its own. It keeps the newest thousand events that were not read; what had happened before is its
  /// first 999 events and the last. It does not keep the handle: hold that as long as a ``scoped`` call is to live.
  public var events: AsyncStream<TaskEvent> { desk.events() }

  /// The progress of the bodies that go up and come down, from the last that is known; ends with the call.
  ///
  ///     for await progress in export.progress { bar.show(progress.fraction) }
  ///
  /// It is told at most 20 times a second and at the end of each body; a slow reader gets the newest. Each use is a sequence of its
  /// own, and does not keep the handle. A call that shares the request of another has no bodies of its own.
  public var progress: AsyncStream<TransferProgress> { desk.transfers() }

  /// Ends the call with `CancellationError`; nothing when it is over.
  public func cancel() { desk.cancel() }

  /// Pauses the call: before its next attempt, and while the body of the response is read.
  ///
  /// An attempt that waits for its slot, or for its response, is not stopped: it goes on until the body comes, which
  /// is then left unread, so that the server waits with the rest. Its slot, its connection and its turn in a serial
  /// queue are kept. Time goes on as well: a pause that is longer than the attempt's time limit ends the attempt, and the
  /// next one waits until the call is resumed; one that is longer than the deadline of the call ends the call. A paused call
  /// whose last handle is released is resumed, for nothing else could resume it.
  ///
  /// - Returns: Whether it is paused because of this: false when it was already, or is over.
  @discardableResult
  public func pause() -> Bool { desk.pause() }

  /// Resumes a paused call where it is; the request of the next attempt is built only now.
  ///
  /// - Returns: Whether it goes on because of this: false when it was not paused.
  @discardableResult
  public func resume() -> Bool { desk.resume() }

  /// Runs the task anew when it has failed or was cancelled; the same handle then stands for the new call.
  ///
  /// - Returns: Whether it was begun: false while the task is under way, and when it has succeeded.
  @discardableResult
  public func retry() -> Bool { desk.retry() }
}

/// The state of a started task.
public enum TaskHandleState: Sendable, Hashable {
  /// It waits: for its turn, for a slot, or for the next attempt.
  case waiting
  /// An attempt is under way.
  case running
  /// It goes no further until it is resumed.
  case paused
  /// It gave its value.
  case succeeded
  /// It threw an error.
  case failed
  /// It was cancelled.
  case cancelled

  /// True when it is over.
  public var isOver: Bool {
    switch self {
    case .waiting, .running, .paused: false
    case .succeeded, .failed, .cancelled: true
    }
  }
}

/// The lifetime of a started task.
public enum TaskHandleLifetime: Sendable, Hashable {
  /// Until it is done, with or without the handle.
  case managed
  /// Until it is done or the handle is released, whichever comes first.
  case scoped
}
