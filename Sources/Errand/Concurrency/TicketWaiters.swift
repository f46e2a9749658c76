/// Tasks that wait for a decision on their tickets, for example for a slot.
///
/// A ticket is decided once: it is granted or abandoned. The decision can come before its owner begins to wait.
struct TicketWaiters {
  private var waiters: [Int: Waiter<Bool>] = [:]
  private var early: [Int: Bool] = [:]

  /// Stores the waiter until its ticket is decided. Returns the decision if there already is one.
  mutating func keep(_ waiter: Waiter<Bool>, _ ticket: Int) -> Bool? {
    if let decision = early.removeValue(forKey: ticket) { return decision }
    waiters[ticket] = waiter
    return nil
  }

  /// Decides a ticket. Returns its waiter, which the caller resumes with the decision outside of any lock. If the owner
  /// does not wait yet, ``keep(_:_:)`` returns the decision later.
  mutating func decide(_ ticket: Int, hasTurn: Bool) -> Waiter<Bool>? {
    if let waiter = waiters.removeValue(forKey: ticket) { return waiter }
    early[ticket] = hasTurn
    return nil
  }

  mutating func forget(_ ticket: Int) -> Bool? { early.removeValue(forKey: ticket) }
}
