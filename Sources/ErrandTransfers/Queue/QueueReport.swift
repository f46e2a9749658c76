public import Errand

/// The result of a delivery attempt for a task in an ``OfflineQueue``.
public struct QueueReport: Sendable {
  /// The result of a delivery attempt. If a task left the queue undelivered, its file is in the `set-aside` folder
  /// inside the queue's folder.
  public enum Outcome: Sendable {
    /// Delivered, with this status.
    case delivered(HTTPStatus)
    /// Expired before it could be delivered.
    case expired
    /// Permanently rejected.
    case failed(any Error)
    /// Set aside because its type or version is unknown, or the file does not contain a task.
    case setAside(reason: String)
    /// Not delivered, because of a temporary failure. The task stays in the queue and is retried.
    case stays(any Error)
  }

  /// The name of the task's file, without its folder.
  public let fileName: String
  /// The stored task. `nil` if the file could not be read.
  public let task: QueuedTask?
  /// The result.
  public let outcome: Outcome

  /// Whether the task has left the queue. If so, this is its last report.
  public var hasLeft: Bool {
    if case .stays = outcome { false } else { true }
  }
}
