public import Errand

/// The state of a transfer.
///
///     for await state in backup.states {
///       if case .running(let progress) = state { bar.show(progress.fraction) }
///     }
public enum TransferState: Sendable {
  /// Not started.
  case waiting
  /// Running, with the number of bytes transferred so far, including earlier runs.
  case running(TransferProgress)
  /// Waiting for the next attempt, with the delay and the error of the last attempt.
  case delayed(Duration, TaskError)
  /// Checking the downloaded file against its digest.
  case verifying
  /// Paused until it is resumed.
  case paused
  /// Finished.
  case finished
  /// Failed. The partial transfer is kept, and the next run continues it.
  case failed(any Error)
  /// Cancelled. The partial transfer is kept, and the next run continues it.
  case cancelled

  /// Whether the transfer has finished, failed or been cancelled. If so, it can be run again.
  public var isOver: Bool {
    switch self {
    case .waiting, .running, .delayed, .verifying, .paused: false
    case .finished, .failed, .cancelled: true
    }
  }

  /// The progress. `nil` unless the transfer is running.
  public var progress: TransferProgress? {
    if case .running(let progress) = self { progress } else { nil }
  }
}
