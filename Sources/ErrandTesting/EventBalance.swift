import Errand

/// Checks that everything that starts in a call ends exactly once, before the call ends, and that no events follow its
/// end.
struct EventBalance {
  private struct Open {
    var brackets: [String: Int] = [:]
    /// The attempts that have started, to detect a second start.
    var begun: Set<String> = []
  }

  private var calls: [Int: Open] = [:]
  private var ended: Set<Int> = []
  private var faults: [String] = []

  var isAtRest: Bool { calls.isEmpty }

  var isBalanced: Bool { isAtRest && faults.isEmpty }

  /// The faults, and everything that has not ended. Empty if everything is correct.
  var problems: [String] {
    faults
      + calls.flatMap { call, open in open.brackets.keys.map { "call \(call): \($0) has not ended" } }.sorted()
  }

  /// Checks an event. A call's events must be passed in order.
  mutating func note(_ event: TaskEvent) {
    let call = event.call
    guard !ended.contains(call) else {
      return faults.append("call \(call): '\(event.moment)' was reported after the call ended")
    }
    var open = calls.removeValue(forKey: call) ?? Open()
    if let bracket = Bracket(event.moment), let fault = bracket.change(&open.brackets, &open.begun) {
      faults.append("call \(call): \(fault)")
    }
    if case .callEnded = event.moment {
      ended.insert(call)
      faults += open.brackets.keys.sorted().map { "call \(call): \($0) was still open when the call ended" }
    } else {
      calls[call] = open
    }
  }

  /// An interval that one moment opens and another moment closes.
  private struct Bracket {
    let name: String
    let opens: Bool
    let isUnique: Bool

    /// Returns `nil` if the moment doesn't open or close an interval.
    init?(_ moment: CallMoment) {
      let (name, opens, isUnique): (String, Bool, Bool)
      switch moment {
      case .callStarted: (name, opens, isUnique) = ("the call", true, true)
      case .callEnded: (name, opens, isUnique) = ("the call", false, true)
      case .turnWaitStarted: (name, opens, isUnique) = ("the wait for the serial queue", true, false)
      case .turnWaitEnded: (name, opens, isUnique) = ("the wait for the serial queue", false, false)
      case .attemptStarted(let number): (name, opens, isUnique) = ("attempt \(number)", true, true)
      case .attemptEnded(let number, _): (name, opens, isUnique) = ("attempt \(number)", false, true)
      case .queued: (name, opens, isUnique) = ("the wait for a slot", true, false)
      case .admitted, .leftQueue: (name, opens, isUnique) = ("the wait for a slot", false, false)
      case .refreshStarted: (name, opens, isUnique) = ("the wait for a token", true, false)
      case .refreshEnded: (name, opens, isUnique) = ("the wait for a token", false, false)
      case .networkWaitStarted: (name, opens, isUnique) = ("the wait for a network", true, false)
      case .networkWaitEnded: (name, opens, isUnique) = ("the wait for a network", false, false)
      case .delayStarted: (name, opens, isUnique) = ("the delay", true, false)
      case .delayEnded: (name, opens, isUnique) = ("the delay", false, false)
      default: return nil
      }
      (self.name, self.opens, self.isUnique) = (name, opens, isUnique)
    }

    /// Opens or closes the bracket. Returns the fault, if any.
    func change(_ open: inout [String: Int], _ begun: inout Set<String>) -> String? {
      if opens {
        open[name, default: 0] += 1
        return !isUnique || begun.insert(name).inserted ? nil : "\(name) started twice"
      }
      guard let count = open[name] else { return "\(name) ended more often than it started" }
      open[name] = count > 1 ? count - 1 : nil
      return nil
    }
  }
}
