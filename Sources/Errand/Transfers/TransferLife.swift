/// The life of a transfer: what it is doing, and what it was told to. Pure.
struct TransferLife {
  private var underlying = TransferState.waiting
  /// True from the beginning of a run to its end.
  private(set) var isRunning = false
  private(set) var isPaused = false

  /// The state as it is told.
  var state: TransferState { isPaused && !underlying.isOver ? .paused : underlying }

  /// Begins a run; false while another one is under way.
  mutating func begin() -> Bool {
    guard !isRunning else { return false }
    isRunning = true
    underlying = .waiting
    return true
  }

  /// Notes what the run does; what comes after its end is none of it.
  mutating func note(_ state: TransferState) {
    if isRunning { underlying = state }
  }

  /// Ends the run.
  mutating func end(_ state: TransferState) {
    underlying = state
    isRunning = false
    isPaused = false
  }

  /// False when it is paused already.
  mutating func pause() -> Bool {
    guard !isPaused else { return false }
    isPaused = true
    return true
  }

  /// False when it is not paused.
  mutating func resume() -> Bool {
    guard isPaused else { return false }
    isPaused = false
    return true
  }
}
