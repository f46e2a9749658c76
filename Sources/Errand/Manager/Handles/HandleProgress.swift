/// A run's state, derived from its call's events and its handle's commands. It has no side effects.
struct HandleProgress {
  private var underlying = TaskHandleState.waiting
  private var isPaused = false

  var state: TaskHandleState { isPaused && !underlying.isOver ? .paused : underlying }

  mutating func note(_ moment: CallMoment) {
    guard !underlying.isOver else { return }
    switch moment {
    case .queued, .delayStarted, .turnWaitStarted, .networkWaitStarted: underlying = .waiting
    case .attemptStarted, .admitted, .networkWaitEnded: underlying = .running
    case .callEnded(.succeeded): underlying = .succeeded
    case .callEnded(.failed): underlying = .failed
    case .callEnded(.cancelled): underlying = .cancelled
    default: break
    }
  }

  mutating func pause() -> Bool {
    guard !isPaused, !underlying.isOver else { return false }
    isPaused = true
    return true
  }

  mutating func resume() -> Bool {
    guard state == .paused else { return false }
    isPaused = false
    return true
  }

  var canBeRetried: Bool { underlying == .failed || underlying == .cancelled }
}
