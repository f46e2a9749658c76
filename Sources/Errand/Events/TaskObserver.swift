/// Observes the calls of a server; the events of each call come in order.
///
/// Install observers in ``ServerConfiguration/observers``. Where there is none, events cost nothing.
public protocol TaskObserver: Sendable {
  /// The way in which the observer is told; ``ObserverDelivery/queued`` unless stated.
  var delivery: ObserverDelivery { get }

  /// The moments that the observer is told of; ``ObserverInterest/all`` unless stated. Moments without an observer are not made.
  var interest: ObserverInterest { get }

  /// True for an observer that is told of the bytes of bodies: ``CallMoment/progressed(_:)``; false unless stated, for counting
  /// costs each body something.
  var wantsProgress: Bool { get }

  /// The part of the calls without a surrounding ``TraceContext`` that begin a recorded trace for the observer; none unless stated.
  var traceSampling: TraceSampling { get }

  /// Receives an event.
  func observe(_ event: TaskEvent)
}

extension TaskObserver {
  /// ``ObserverDelivery/queued``: on a queue of its own.
  public var delivery: ObserverDelivery { .queued }

  /// All moments.
  public var interest: ObserverInterest { .all }

  /// None: no trace is begun for it.
  public var traceSampling: TraceSampling { .none }

  /// False: bytes are not counted for it.
  public var wantsProgress: Bool { false }
}

/// The moments of a call that an observer is told of.
public enum ObserverInterest: Int, Sendable, Hashable, Comparable, CaseIterable {
  /// The end: ``CallMoment/callEnded(_:)``.
  case ends = 1
  /// The start and the end.
  case calls
  /// All of them; the bytes of bodies only where ``TaskObserver/wantsProgress`` says so.
  case all

  /// Fewer moments before more.
  public static func < (left: ObserverInterest, right: ObserverInterest) -> Bool { left.rawValue < right.rawValue }

  func includes(_ moment: CallMoment) -> Bool {
    switch (self, moment) {
    case (.all, _), (_, .callEnded), (.calls, .callStarted): true
    case (.ends, _), (.calls, _): false
    }
  }
}

/// The ways in which an observer is told of events.
public enum ObserverDelivery: Sendable, Hashable {
  /// Delivery on a queue of its own, shortly after: no call waits for the observer, however slow it is. Up to 1,000 events wait;
  /// each that comes then takes the place of the one before it, and says in ``TaskEvent/missed`` how many were dropped.
  case queued
  /// Delivery in place: the call goes on when the observer returns. For observers that only take a note.
  case inline
}
