/// The progress of a started task, by the moments of its call and the commands of its handle. Pure.
struct HandleProgress {
  /// The number of times it was begun; what belongs to an earlier round no longer counts.
  private(set) var round = 1
  private var underlying = TaskHandleState.waiting
  private var isPaused = false

  /// The state of the task.
  var state: TaskHandleState { isPaused && !underlying.isOver ? .paused : underlying }

  /// Notes a moment of the present round's call.
  mutating func note(_ moment: CallMoment) {
    guard !underlying.isOver else { return }
    switch moment {
    case .queued, .delayStarted, .turnWaitStarted: underlying = .waiting
    case .attemptStarted, .admitted: underlying = .running
    case .callEnded(.succeeded): underlying = .succeeded
    case .callEnded(.failed): underlying = .failed
    case .callEnded(.cancelled): underlying = .cancelled
    default: break
    }
  }

  /// False when it is over, or paused already.
  mutating func pause() -> Bool {
    guard !isPaused, !underlying.isOver else { return false }
    isPaused = true
    return true
  }

  /// False when it is not paused.
  mutating func resume() -> Bool {
    guard state == .paused else { return false }
    isPaused = false
    return true
  }

  /// Begins the next round; false unless the last one failed or was cancelled.
  mutating func retry() -> Bool {
    guard underlying == .failed || underlying == .cancelled else { return false }
    round += 1
    underlying = .waiting
    isPaused = false
    return true
  }
}
