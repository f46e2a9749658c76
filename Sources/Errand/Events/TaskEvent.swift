/// An event during a call, as received by observers.
public struct TaskEvent: Sendable {
  /// The call's number, unique in the process.
  public let call: Int
  /// The name of the task's type, or its custom name.
  public let task: String
  /// The time since the call started.
  public let time: Duration
  /// The reported moment.
  public let moment: CallMoment
  /// The values that the task passes to its observers.
  public let context: TaskContext
  /// The call's span, if the call is traced.
  public package(set) var span: CallSpan?
  /// The fixed name of the failure that ended the call, suitable for metrics. `nil` for all other events.
  public package(set) var errorType: String?
  /// The history of the call and its attempts, with secrets redacted. `nil` for all events except the last.
  ///
  /// If the call shared another call's request, that call's attempts are in the record of its response or error.
  public package(set) var record: FlightRecord?
  /// Whether the library makes the call on behalf of other calls, for example to share a request or to validate a
  /// cached response. Those calls report their own events.
  public package(set) var isInternal = false
  /// The number of events dropped before this event because the observer was too slow; see ``ObserverDelivery/queued``.
  public package(set) var missed = 0
}
