/// A queue whose tasks run one at a time, in the order in which they came.
public struct SerialQueue: Sendable, Hashable {
  /// The queue's name; nil is no queue.
  public let name: String?

  /// No queue.
  public static let none = SerialQueue(name: nil)

  /// The manager's queue of that name.
  public static func named(_ name: String) -> SerialQueue { SerialQueue(name: name) }
}
