/// Something that happened to a call, as observers are told.
public struct TaskEvent: Sendable {
  /// The call, by a number that is unique in the process.
  public let call: Int
  /// The name of the task's type, or that it was given.
  public let task: String
  /// The time since the call started.
  public let time: Duration
  /// The moment that the event reports.
  public let moment: CallMoment
  /// The values that the task gave to its observers.
  public let context: TaskContext
  /// The call's place in a trace; nil where there is none.
  public package(set) var span: CallSpan?
  /// The fixed name of the failure that ended the call, fit for metrics; nil for any other event.
  public package(set) var errorType: String?
  /// The history of the call, secrets hidden, with its own attempts; nil for any event but its end.
  ///
  /// The attempts of another call, whose request it shared, are in the record of its response or error.
  public package(set) var record: FlightRecord?
  /// True for a call that the library makes for others, which tell of themselves: to share a request, or to validate what is cached.
  public package(set) var isInternal = false
  /// The number of events dropped before this one because the observer was too slow; see ``ObserverDelivery/queued``.
  public package(set) var missed = 0
}
