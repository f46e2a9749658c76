/// A queue whose tasks run one at a time, in the order in which they came.
///
/// A stream has its turn until its head is there; so do the events and the requests of a transfer.
///
/// A call that a hook or a step of such a task awaits must not use the same queue: it would wait for itself, and fails
/// with code `.reentrantQueue`. One that is started and not awaited takes its turn. Only the Swift task of the hook is
/// checked: do not await calls of the same queue in child tasks (`async let`, task groups). A refresh, or a shared request, that several
/// calls wait for holds the queues of the one that began it.
public struct SerialQueue: Sendable, Hashable {
  /// The queue's name; nil is no queue.
  public let name: String?

  /// No queue.
  public static let none = SerialQueue(name: nil)

  /// The manager's queue of that name.
  public static func named(_ name: String) -> SerialQueue { SerialQueue(name: name) }
}
