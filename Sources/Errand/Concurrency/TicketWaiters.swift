/// The tasks that wait for what their tickets stand for, such as a slot; pure.
///
/// A ticket is decided once: its turn has come, or it was given up. Either may be so before its owner begins to wait.
struct TicketWaiters {
  private var waiters: [Int: Waiter<Bool>] = [:]
  /// The decisions that came before the owner of the ticket began to wait.
  private var early: [Int: Bool] = [:]

  /// Keeps the owner of a ticket until it is decided; returns the decision where there is one already.
  mutating func keep(_ waiter: Waiter<Bool>, _ ticket: Int) -> Bool? {
    if let decision = early.removeValue(forKey: ticket) { return decision }
    waiters[ticket] = waiter
    return nil
  }

  /// Decides a ticket; returns its owner, which is to be resumed with the decision outside of any lock. An owner that does
  /// not wait yet finds it with ``keep(_:_:)``.
  mutating func decide(_ ticket: Int, hasTurn: Bool) -> Waiter<Bool>? {
    if let waiter = waiters.removeValue(forKey: ticket) { return waiter }
    early[ticket] = hasTurn
    return nil
  }

  /// Forgets a ticket without a waiter. Returns the decision, if there is one.
  mutating func forget(_ ticket: Int) -> Bool? { early.removeValue(forKey: ticket) }
}
