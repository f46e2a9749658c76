import Errand

/// Measures a transfer's progress across its attempts.
struct TransferMeter {
  private let direction: TransferProgress.Direction
  private let clock: CallClock
  private var meter: ProgressMeter
  /// The number of bytes transferred before the current measurement started.
  private var base: Int64

  init(_ direction: TransferProgress.Direction, _ clock: CallClock, from base: Int64 = 0) {
    self.direction = direction
    self.clock = clock
    self.base = base
    meter = ProgressMeter(direction, attempt: 1, total: nil, at: clock.now)
  }

  /// Starts a new measurement from `base`. Call it after the number of bytes has changed without a transfer.
  mutating func restart(from base: Int64) { self = TransferMeter(direction, clock, from: base) }

  /// Counts transferred bytes. Returns the progress if an update is due.
  mutating func add(_ count: Int, of total: Int64?, attempt: Int) -> TransferProgress? {
    meter.add(count, at: clock.now).map { progress(by: $0, total, attempt) }
  }

  mutating func present(of total: Int64?, attempt: Int, isFinished: Bool = false) -> TransferProgress {
    var progress = progress(by: meter.finish(at: clock.now), total, attempt)
    if !isFinished { progress = TransferProgress(progress, isFinished: false) }
    return progress
  }

  private func progress(by measure: TransferProgress, _ total: Int64?, _ attempt: Int) -> TransferProgress {
    TransferProgress(
      direction: direction, attempt: attempt, completed: base + measure.completed, total: total, rate: measure.rate,
      isFinished: measure.isFinished)
  }
}

extension TransferProgress {
  /// Returns the progress of the entire transfer, given the progress of the chunk that is being sent.
  func adding(_ piece: TransferProgress) -> TransferProgress {
    TransferProgress(
      direction: direction, attempt: attempt, completed: min(completed + piece.completed, total ?? .max), total: total,
      rate: piece.rate, isFinished: false)
  }

  fileprivate init(_ other: TransferProgress, isFinished: Bool) {
    self.init(
      direction: other.direction, attempt: other.attempt, completed: other.completed, total: other.total,
      rate: other.rate, isFinished: isFinished)
  }
}
