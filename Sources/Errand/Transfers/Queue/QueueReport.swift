/// The result of a delivery attempt for a task in an ``OfflineQueue``.
public struct QueueReport: Sendable {
  /// The result of a delivery attempt. The file of a task that left the queue undelivered is in the queue's folder
  /// `set-aside`.
  public enum Outcome: Sendable {
    /// Delivered, with this status.
    case delivered(HTTPStatus)
    /// Expired before it could be delivered.
    case expired
    /// Permanently rejected.
    case failed(any Error)
    /// Unknown type or version, or not a task.
    case setAside(reason: String)
    /// Not delivered because of a temporary failure. The task stays in the queue and is retried.
    case stays(any Error)
  }

  /// The name of the task's file.
  public let fileName: String
  /// The stored task. `nil` if the file could not be read.
  public let task: QueuedTask?
  /// The result.
  public let outcome: Outcome

  /// Whether the task left the queue. No more reports follow for it.
  public var hasLeft: Bool {
    if case .stays = outcome { false } else { true }
  }
}
