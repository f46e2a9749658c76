/// The waiters of one host and one priority, in the order in which they came.
///
/// A waiter that gives up leaves a gap that is skipped later, so that a line of any length costs the same per waiter.
struct WaitingLine {
  struct Waiter {
    let ticket: Admission.Ticket
    /// The time of arrival.
    let since: Duration
    var isGone = false
  }

  private var waiters: [Waiter] = []
  /// The index of the first waiter that has not gone.
  private var head = 0
  private(set) var count = 0

  var first: Waiter? { count == 0 ? nil : waiters[head] }

  /// Tickets must grow.
  mutating func append(_ ticket: Admission.Ticket, since: Duration) {
    waiters.append(Waiter(ticket: ticket, since: since))
    count += 1
  }

  mutating func removeFirst() {
    guard count > 0 else { return }
    take(at: head)
  }

  /// Removes a waiter, wherever it stands; false when it is not here.
  mutating func remove(_ ticket: Admission.Ticket) -> Bool {
    var low = head
    var high = waiters.count
    while low < high {
      let middle = (low + high) / 2
      if waiters[middle].ticket < ticket { low = middle + 1 } else { high = middle }
    }
    guard low < waiters.count, waiters[low].ticket == ticket, !waiters[low].isGone else { return false }
    take(at: low)
    return true
  }

  private mutating func take(at index: Int) {
    waiters[index].isGone = true
    count -= 1
    while head < waiters.count, waiters[head].isGone { head += 1 }
    let gaps = waiters.count - count
    guard gaps > 32, gaps > count else { return }
    waiters = waiters[head...].filter { !$0.isGone }
    head = 0
  }
}
