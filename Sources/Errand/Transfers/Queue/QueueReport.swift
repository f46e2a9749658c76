/// What became of a task in an ``OfflineQueue``.
public struct QueueReport: Sendable {
  /// What becomes of a task. The file of one that left the queue undelivered is in the folder `set-aside` of the queue.
  public enum Outcome: Sendable {
    /// It was delivered, with this status.
    case delivered(HTTPStatus)
    /// Its time was over before it could be delivered.
    case expired
    /// It was refused for good.
    case failed(any Error)
    /// Its type or version is not known, or it is no task.
    case setAside(reason: String)
    /// It could not be delivered now, and stays: it is sent again.
    case stays(any Error)
  }

  /// The name of its file.
  public let fileName: String
  /// The task as it was kept; nil where that could not be read.
  public let task: QueuedTask?
  /// What became of it.
  public let outcome: Outcome

  /// True where the task left the queue: nothing more is told of it.
  public var hasLeft: Bool {
    if case .stays = outcome { false } else { true }
  }
}
