/// The state machine of a transfer.
struct TransferStateMachine {
  private var underlying = TransferState.waiting
  private(set) var isRunning = false
  private(set) var isPaused = false

  var state: TransferState { isPaused && !underlying.isOver ? .paused : underlying }

  /// Starts a run. Returns `false` if a run is already active.
  mutating func begin() -> Bool {
    guard !isRunning else { return false }
    isRunning = true
    underlying = .waiting
    return true
  }

  /// Sets the state. Does nothing after the run has ended.
  mutating func note(_ state: TransferState) {
    if isRunning { underlying = state }
  }

  mutating func end(_ state: TransferState) {
    underlying = state
    isRunning = false
    isPaused = false
  }

  /// Pauses the transfer. Returns `false` if it is already paused.
  mutating func pause() -> Bool {
    guard !isPaused else { return false }
    isPaused = true
    return true
  }

  /// Resumes the transfer. Returns `false` if it is not paused.
  mutating func resume() -> Bool {
    guard isPaused else { return false }
    isPaused = false
    return true
  }
}
