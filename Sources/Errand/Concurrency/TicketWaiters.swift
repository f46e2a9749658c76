/// Tasks that wait for a decision on their tickets, for example for a slot.
///
/// A ticket is decided once: it is either granted or abandoned. The decision may come before its owner starts to wait.
struct TicketWaiters {
  private var waiters: [Int: Waiter<Bool>] = [:]
  private var early: [Int: Bool] = [:]

  /// Stores the waiter until its ticket is decided. Returns the decision if it has already been made.
  mutating func keep(_ waiter: Waiter<Bool>, _ ticket: Int) -> Bool? {
    if let decision = early.removeValue(forKey: ticket) { return decision }
    waiters[ticket] = waiter
    return nil
  }

  /// Decides a ticket. Returns its waiter, which the caller resumes with the decision outside of any lock. If the owner
  /// is not waiting yet, ``keep(_:_:)`` returns the decision later.
  mutating func decide(_ ticket: Int, hasTurn: Bool) -> Waiter<Bool>? {
    if let waiter = waiters.removeValue(forKey: ticket) { return waiter }
    early[ticket] = hasTurn
    return nil
  }

  mutating func forget(_ ticket: Int) -> Bool? { early.removeValue(forKey: ticket) }
}
