/// Observes the calls of a server; the events of each call come in order.
///
/// Install observers in ``ServerConfiguration/observers``. Where there is none, events cost nothing.
public protocol TaskObserver: Sendable {
  /// The way in which the observer is told; ``ObserverDelivery/queued`` unless stated.
  var delivery: ObserverDelivery { get }

  /// Something happened.
  func observe(_ event: TaskEvent)
}

extension TaskObserver {
  /// On a queue of its own.
  public var delivery: ObserverDelivery { .queued }
}

/// The ways in which an observer is told of events.
public enum ObserverDelivery: Sendable, Hashable {
  /// On a queue of its own, shortly after: no call waits for the observer, however slow it is. Up to 1,000 events wait;
  /// those that come then are dropped, and the next one says how many in ``TaskEvent/missed``.
  case queued
  /// In place: the call goes on when the observer returns. For observers that only take a note.
  case inline
}

/// Something that happened to a call, as observers are told.
public struct TaskEvent: Sendable {
  /// The call, by a number that is unique in the process.
  public let call: Int
  /// The name of the task's type.
  public let task: String
  /// The time since the call started.
  public let time: Duration
  /// The moment that the event reports.
  public let moment: CallMoment
  /// The values that the task gave to its observers.
  public let context: TaskContext
  /// The number of events dropped before this one because the observer was too slow; see ``ObserverDelivery/queued``.
  public package(set) var missed = 0
}
