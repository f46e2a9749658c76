/// An event that observers receive during a call.
public struct TaskEvent: Sendable {
  /// The call's number, unique in the process.
  public let call: Int
  /// The name of the task's type, or the task's custom name.
  public let task: String
  /// The time since the call started.
  public let time: Duration
  /// The moment that the event reports.
  public let moment: CallMoment
  /// The values that the task passes to its observers.
  public let context: TaskContext
  /// The call's span, if the call is traced.
  public package(set) var span: CallSpan?
  /// A fixed name for the failure that ended the call, suitable for metrics. `nil` for all other events.
  public package(set) var errorType: String?
  /// The history of the call and its attempts, with secrets redacted. `nil` for all events except the last.
  ///
  /// If the call shared another call's request, the attempts are in the record of the response or error.
  public package(set) var record: FlightRecord?
  /// Whether Errand makes this call on behalf of other calls, for example to share a request or to validate a cached
  /// response. The other calls report their own events.
  public package(set) var isInternal = false
  /// The number of events dropped before this event because the observer was too slow; see ``ObserverDelivery/queued``.
  public package(set) var missed = 0
}

extension TaskEvent: CustomStringConvertible {
  /// The call's number, the task, the time and the moment on one line, such as `#1 GetWidget 0.031 s: 200 OK`.
  public var description: String { "#\(call) \(task) \(time.formattedSeconds): \(moment)".onOneLine }
}
