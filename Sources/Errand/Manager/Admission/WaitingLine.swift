/// Waiters at one priority, first come, first served. A waiter that gives up leaves a gap, which is skipped later, so
/// that removal is cheap even in a long queue.
struct WaitingLine {
  struct Waiter {
    let ticket: Admission.Ticket
    let since: Duration
    var isGone = false
  }

  private var waiters: [Waiter] = []
  private var head = 0
  private(set) var count = 0

  var first: Waiter? { count == 0 ? nil : waiters[head] }

  /// Appends a waiter. Every ticket must be greater than the previous one.
  mutating func append(_ ticket: Admission.Ticket, since: Duration) {
    waiters.append(Waiter(ticket: ticket, since: since))
    count += 1
  }

  mutating func removeFirst() {
    guard count > 0 else { return }
    take(at: head)
  }

  /// Removes a waiter from anywhere in the queue. Returns `false` if the waiter is not in the queue.
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
