/// A race of exchanges of the same request: how many run, and when the race is over; pure.
struct HedgeRace {
  /// What to do with the result of an exchange.
  enum ResultAction: Equatable {
    /// Return it. The others are no longer needed.
    case win
    /// Wait for a better one.
    case keep
    /// Return the first exchange's result, because none was acceptable.
    case lose
    /// Ignore it, because another one has won.
    case discard
  }

  private let maximum: Int
  private var hedges = 0
  private var running = 1
  private var isOver = false
  /// Whether the server has asked for a wait.
  private var isHeldBack = false

  init(_ hedging: Hedging) { maximum = hedging.maximum }

  /// Whether another hedge may be sent.
  var mayLaunch: Bool { !isOver && !isHeldBack && hedges < maximum }

  /// Notes that a hedge was sent.
  mutating func launched() {
    hedges += 1
    running += 1
  }

  /// Notes the result of an exchange.
  ///
  /// - Parameters:
  ///   - isAcceptable: Whether the result ends the race.
  ///   - asksToWait: Whether the server asks for fewer requests.
  mutating func ended(isAcceptable: Bool, asksToWait: Bool = false) -> ResultAction {
    running -= 1
    if asksToWait { isHeldBack = true }
    if isOver { return .discard }
    isOver = isAcceptable || running == 0
    return isAcceptable ? .win : isOver ? .lose : .keep
  }
}
