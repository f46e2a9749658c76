/// Something that happened to a call, as observers are told.
public struct TaskEvent: Sendable {
  /// The call, by a number that is unique in the process.
  public let call: Int
  /// The name of the task's type.
  public let task: String
  /// The time since the call started.
  public let time: Duration
  /// What happened.
  public let moment: CallMoment
  /// What the task gave to its observers.
  public let context: TaskContext
  /// How many events were dropped before this one because the observer was too slow; see ``ObserverDelivery/queued``.
  public package(set) var missed = 0
}
