/// An event of a call, as received by observers.
public struct TaskEvent: Sendable {
  /// The number of the call, unique in the process.
  public let call: Int
  /// The name of the task's type, or its custom name.
  public let task: String
  /// The time since the call started.
  public let time: Duration
  /// The reported moment.
  public let moment: CallMoment
  /// The values that the task passes to its observers.
  public let context: TaskContext
  /// The span of the call, if it is traced.
  public package(set) var span: CallSpan?
  /// The fixed name of the failure that ended the call, suitable for metrics; `nil` for all other events.
  public package(set) var errorType: String?
  /// The history of the call and its attempts, with secrets redacted. `nil` for all events but the last.
  ///
  /// If the call shared another call's request, the attempts of that call are in the record of its response or error.
  public package(set) var record: FlightRecord?
  /// Whether the library makes the call on behalf of other calls, which report their own events: to share a request, or
  /// to validate a cached response.
  public package(set) var isInternal = false
  /// The number of events dropped before this one because the observer was too slow; see ``ObserverDelivery/queued``.
  public package(set) var missed = 0
}
