/// What became of a task in an ``OfflineQueue``.
public struct QueueReport: Sendable {
  /// The ways in which a task leaves the queue. The file of one that was not delivered is in the folder `set-aside` of the queue.
  public enum Outcome: Sendable {
    /// It was delivered, with this status.
    case delivered(HTTPStatus)
    /// Its time was over before it could be delivered.
    case expired
    /// It was refused for good.
    case failed(any Error)
    /// It is of a type or a version that nobody knows, or is no task.
    case setAside(reason: String)
  }

  /// The name of its file.
  public let fileName: String
  /// The task as it was kept; nil where that could not be read.
  public let task: QueuedTask?
  /// What became of it.
  public let outcome: Outcome
}
