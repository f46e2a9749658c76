/// Tasks that wait for a decision on their tickets, such as whether they get a slot.
///
/// Each ticket is decided once: it is either granted or abandoned. The decision may be made before the ticket's owner
/// starts to wait.
struct TicketWaiters {
  private var waiters: [Int: Waiter<Bool>] = [:]
  private var early: [Int: Bool] = [:]

  /// Returns the decision if it has already been made. Otherwise, stores the waiter until its ticket is decided.
  mutating func keep(_ waiter: Waiter<Bool>, _ ticket: Int) -> Bool? {
    if let decision = early.removeValue(forKey: ticket) { return decision }
    waiters[ticket] = waiter
    return nil
  }

  /// Decides a ticket and returns its waiter, which the caller must resume with the decision after releasing all locks.
  /// Returns `nil` if the owner is not waiting yet. In that case, ``keep(_:_:)`` returns the decision later.
  mutating func decide(_ ticket: Int, hasTurn: Bool) -> Waiter<Bool>? {
    if let waiter = waiters.removeValue(forKey: ticket) { return waiter }
    early[ticket] = hasTurn
    return nil
  }
}
