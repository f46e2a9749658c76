/// A queue whose tasks run one at a time, in the order in which they came.
///
/// A call that a hook or a step of such a task awaits must not use the same queue: it would wait for itself, and fails
/// with code `.reentrantQueue`. One that is started and not awaited takes its turn. Only the Swift task of the hook is
/// checked: do not await calls of the same queue in child tasks (`async let`, task groups).
public struct SerialQueue: Sendable, Hashable {
  /// The queue's name; nil is no queue.
  public let name: String?

  /// No queue.
  public static let none = SerialQueue(name: nil)

  /// The manager's queue of that name.
  public static func named(_ name: String) -> SerialQueue { SerialQueue(name: name) }
}

/// The order of calls that wait for a slot.
public enum CallPriority: Int, Sendable, Hashable, Comparable, CaseIterable {
  /// After all others.
  case background
  /// After those that a user is looking at.
  case low
  /// In the order of arrival.
  case normal
  /// Before the usual.
  case high
  /// Before all others.
  case urgent

  /// Less urgent before more.
  public static func < (left: CallPriority, right: CallPriority) -> Bool { left.rawValue < right.rawValue }
}
