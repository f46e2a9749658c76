/// Decides when a hedge may start, and which of several exchanges of the same request wins. It has no side effects.
struct HedgeRace {
  enum ResultAction: Equatable {
    /// Return this result. The other exchanges are not needed.
    case win
    /// Keep this result and wait for a better one.
    case keep
    /// Return the first exchange's result, because no result is acceptable.
    case lose
    /// Ignore this result: another exchange has won.
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

  /// Records an exchange's result. An acceptable result ends the race.
  mutating func ended(isAcceptable: Bool, asksToWait: Bool = false) -> ResultAction {
    running -= 1
    if asksToWait { isHeldBack = true }
    if isOver { return .discard }
    isOver = isAcceptable || running == 0
    return isAcceptable ? .win : isOver ? .lose : .keep
  }
}
