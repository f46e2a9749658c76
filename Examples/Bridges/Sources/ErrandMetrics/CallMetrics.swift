public import Errand
public import Metrics

/// Reports numbers on all calls, by the names of OpenTelemetry's conventions where they have one.
///
///     let metrics = CallMetrics()
///     await shop.update { $0.observers.append(metrics) }
///
/// | Metric | Kind | Dimensions |
/// |---|---|---|
/// | `http.client.request.duration` | timer | `errand.task`, `http.response.status_code`, `error.type` |
/// | `errand.client.retries` | counter | `errand.task` |
/// | `errand.client.failures` | counter | `errand.task`, `error.type` |
///
/// A duration is that of an attempt, for the conventions count each request that is sent again as one of its own: from its
/// slot to the end of its body. It is a timer and no recorder of seconds, because a backend knows a timer for a time: it
/// chooses the buckets and the unit, which are seconds where it heeds the hint. A retry is any attempt after the first of
/// its call, hedges included. A failure is a call that threw an error; those that were cancelled are none.
/// Calls that share a request count each, and its attempts once.
///
/// A metric has the same dimensions each time, empty where there is nothing to say, for some backends refuse others. Their values
/// are the names of tasks and of errors, and statuses: never a URL. A task under a name of its own, `.named(…)`,
/// is counted under that, so keep such names few.
public struct CallMetrics: TaskObserver {
  let factory: any MetricsFactory

  /// Reports to `factory`: that of the process unless given, which is to be chosen before.
  public init(factory: any MetricsFactory = MetricsSystem.factory) { self.factory = factory }

  /// At once, for a number is only noted; none is lost to an observer that is behind.
  public var delivery: ObserverDelivery { .inline }

  /// Counts the event.
  public func observe(_ event: TaskEvent) {
    switch event.moment {
    case .attemptStarted(let number) where number > 1: count("errand.client.retries", event)
    case .attemptEnded(_, let record): measure(record, event)
    case .callEnded(.failed) where !event.isInternal:
      count("errand.client.failures", event, [("error.type", event.errorType ?? "_OTHER")])
    default: break
    }
  }

  private func count(_ label: String, _ event: TaskEvent, _ dimensions: [(String, String)] = []) {
    Counter(label: label, dimensions: [("errand.task", event.task)] + dimensions, factory: factory).increment()
  }

  private func measure(_ record: AttemptRecord, _ event: TaskEvent) {
    let status = record.status.map { String($0.code) } ?? ""
    let isRefused = record.status.map { $0.code >= 400 } ?? false
    let dimensions = [
      ("errand.task", event.task), ("http.response.status_code", status),
      ("error.type", record.errorType ?? (isRefused ? status : "")),
    ]
    Timer(
      label: "http.client.request.duration", dimensions: dimensions, preferredDisplayUnit: .seconds, factory: factory
    ).record(duration: record.duration)
  }
}
