/// The state of a transfer.
///
///     for await state in backup.states {
///       if case .running(let progress) = state { bar.show(progress.fraction) }
///     }
public enum TransferState: Sendable {
  /// It was not begun.
  case waiting
  /// It runs; so many bytes are there, those of earlier runs included.
  case running(TransferProgress)
  /// An attempt failed with this error; the next one begins after the delay.
  case delayed(Duration, TaskError)
  /// It goes no further until it is resumed.
  case paused
  /// It is complete.
  case finished
  /// It failed; what is there is kept, and the next run goes on from it.
  case failed(any Error)
  /// It was cancelled; what is there is kept, and the next run goes on from it.
  case cancelled

  /// True when it is over, until it is run again.
  public var isOver: Bool {
    switch self {
    case .waiting, .running, .delayed, .paused: false
    case .finished, .failed, .cancelled: true
    }
  }

  /// The progress, while it runs.
  public var progress: TransferProgress? {
    if case .running(let progress) = self { progress } else { nil }
  }
}
