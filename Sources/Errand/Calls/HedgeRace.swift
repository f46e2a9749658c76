/// A race of attempts at the same request: those in flight, and the end of the race; pure.
struct HedgeRace {
  /// The action when a delay is over.
  enum DelayAction: Equatable {
    /// Make another attempt, and look again after another delay.
    case launch
    /// Look again after another delay.
    case wait
    /// There will be no other attempt.
    case stop
  }

  /// The action on the result of an attempt.
  enum ResultAction: Equatable {
    /// It wins: the others are of no use any more.
    case win
    /// Keep it in case nothing better comes.
    case keep
    /// As `keep`, and nothing better will come.
    case lose
    /// Release it: another has won.
    case discard
  }

  private let maximum: Int
  private var launched = 0
  private var running = 1
  private var isOver = false
  /// True once the server has asked for a wait: no more are launched.
  private var isHeldBack = false

  init(_ hedging: Hedging) { maximum = hedging.maximum }

  /// Notes the end of a delay; returns the action on it.
  ///
  /// - Parameters:
  ///   - isUnderWay: Whether the first attempt is on its way; beside one that waits for its slot, or for a network, another would only wait
  ///     too.
  ///   - isAllowed: Whether another may be sent; asked last, for the answer may cost something.
  mutating func delayOver(isUnderWay: Bool, isAllowed: () -> Bool) -> DelayAction {
    guard !isOver, !isHeldBack, launched < maximum else { return .stop }
    guard isUnderWay else { return .wait }
    guard isAllowed() else { return .stop }
    launched += 1
    running += 1
    return .launch
  }

  /// Notes the result of an attempt; returns the action on it.
  ///
  /// - Parameters:
  ///   - isAcceptable: Whether it will do.
  ///   - asksToWait: Whether it is an answer that asks for fewer requests.
  mutating func ended(isAcceptable: Bool, asksToWait: Bool = false) -> ResultAction {
    running -= 1
    if asksToWait { isHeldBack = true }
    if isOver { return .discard }
    isOver = isAcceptable || running == 0
    return isAcceptable ? .win : isOver ? .lose : .keep
  }
}
