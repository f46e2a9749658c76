/// Observes a server's calls. Each call's events arrive in order.
///
/// Install observers in ``ServerConfiguration/observers``. Without observers, events have no cost.
public protocol TaskObserver: Sendable {
  /// How events are delivered. Defaults to ``ObserverDelivery/queued``.
  var delivery: ObserverDelivery { get }

  /// The moments to observe. Defaults to ``ObserverInterest/all``. Moments that no observer needs are not created.
  var interest: ObserverInterest { get }

  /// Whether the observer receives the progress of bodies (``CallMoment/progressed(_:)``). Defaults to `false`, because
  /// counting bytes has a cost.
  var wantsProgress: Bool { get }

  /// The fraction of calls made outside a ``TraceContext`` that start a recorded trace. Defaults to
  /// ``TraceSampling/none``.
  var traceSampling: TraceSampling { get }

  /// Receives an event.
  func observe(_ event: TaskEvent)
}

extension TaskObserver {
  /// Defaults to ``ObserverDelivery/queued``.
  public var delivery: ObserverDelivery { .queued }

  /// Defaults to all moments.
  public var interest: ObserverInterest { .all }

  /// Defaults to ``TraceSampling/none``.
  public var traceSampling: TraceSampling { .none }

  /// Defaults to `false`.
  public var wantsProgress: Bool { false }
}

/// The moments of a call that an observer receives.
public enum ObserverInterest: Int, Sendable, Hashable, Comparable, CaseIterable {
  /// Only the end of a call: ``CallMoment/callEnded(_:)``.
  case ends = 1
  /// The start and the end of a call.
  case calls
  /// All moments. Progress is included only if ``TaskObserver/wantsProgress`` is `true`.
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
  /// Asynchronously, on the observer's own queue. Calls never wait for the observer. Up to 1,000 events are queued.
  /// Beyond that, each new event replaces the most recent one in the queue, and ``TaskEvent/missed`` counts the dropped
  /// events.
  case queued
  /// Immediately. The call waits until the observer returns. Use this for observers that do very little work.
  case inline
}
