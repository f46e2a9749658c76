/// Decides a race between exchanges of the same request: when a hedge may start, and when the race is over. Pure.
struct HedgeRace {
  enum ResultAction: Equatable {
    /// Return it. The other exchanges are not needed.
    case win
    /// Wait for a better one.
    case keep
    /// Return the first exchange's result, because none was acceptable.
    case lose
    /// Ignore it: another one has won.
    case discard
  }

  private let maximum: Int
  private var hedges = 0
  private var running = 1
  private var isOver = false
  private var isHeldBack = false

  init(_ hedging: Hedging) { maximum = hedging.maximum }

  var mayLaunch: Bool { !isOver && !isHeldBack && hedges < maximum }

  mutating func launched() {
    hedges += 1
    running += 1
  }

  /// Records the result of an exchange. An acceptable one ends the race.
  mutating func ended(isAcceptable: Bool, asksToWait: Bool = false) -> ResultAction {
    running -= 1
    if asksToWait { isHeldBack = true }
    if isOver { return .discard }
    isOver = isAcceptable || running == 0
    return isAcceptable ? .win : isOver ? .lose : .keep
  }
}
