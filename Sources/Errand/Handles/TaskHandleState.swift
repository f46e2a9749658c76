/// What a started task is doing.
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

  /// Whether it is over.
  public var isOver: Bool {
    switch self {
    case .waiting, .running, .paused: false
    case .succeeded, .failed, .cancelled: true
    }
  }
}

/// How long a started task lives.
public enum TaskHandleLifetime: Sendable, Hashable {
  /// Until it is done, whether or not somebody keeps the handle.
  case managed
  /// Until it is done or the handle is released, whichever comes first.
  case scoped
}
