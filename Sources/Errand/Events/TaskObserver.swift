/// Observes a server's calls. Each call's events arrive in order.
///
/// Install observers in ``ServerConfiguration/observers``. Without observers, events cost nothing.
public protocol TaskObserver: Sendable {
  /// How events are delivered. Defaults to ``ObserverDelivery/queued``.
  var delivery: ObserverDelivery { get }

  /// The moments to observe. Defaults to ``ObserverInterest/all``. Moments that no observer requests are not created.
  var interest: ObserverInterest { get }

  /// Whether the observer receives the progress of bodies (``CallMoment/progressed(_:)``). Defaults to `false`, because
  /// counting bytes has a cost.
  var wantsProgress: Bool { get }

  /// The fraction of calls outside of a ``TraceContext`` that start a recorded trace. Defaults to
  /// ``TraceSampling/none``.
  var traceSampling: TraceSampling { get }

  /// Receives an event.
  func observe(_ event: TaskEvent)
}

extension TaskObserver {
  /// ``ObserverDelivery/queued``.
  public var delivery: ObserverDelivery { .queued }

  /// All moments.
  public var interest: ObserverInterest { .all }

  /// ``TraceSampling/none``.
  public var traceSampling: TraceSampling { .none }

  /// `false`.
  public var wantsProgress: Bool { false }
}

/// The moments of a call that an observer receives.
public enum ObserverInterest: Int, Sendable, Hashable, Comparable, CaseIterable {
  /// The end: ``CallMoment/callEnded(_:)``.
  case ends = 1
  /// The start and the end.
  case calls
  /// All moments. Progress is only included if ``TaskObserver/wantsProgress`` is true.
  case all

  /// Orders interests by the number of moments.
  public static func < (left: ObserverInterest, right: ObserverInterest) -> Bool { left.rawValue < right.rawValue }

  func includes(_ moment: CallMoment) -> Bool {
    switch (self, moment) {
    case (.all, _), (_, .callEnded), (.calls, .callStarted): true
    case (.ends, _), (.calls, _): false
    }
  }
}

/// How events are delivered to an observer.
public enum ObserverDelivery: Sendable, Hashable {
  /// On the observer's own queue, shortly afterwards. Calls never wait for the observer. Up to 1,000 events are queued.
  /// Beyond that, each new event replaces the most recent one in the queue, and ``TaskEvent/missed`` is the number of
  /// dropped events.
  case queued
  /// Immediately. The call continues when the observer returns. For observers that do very little work.
  case inline
}
