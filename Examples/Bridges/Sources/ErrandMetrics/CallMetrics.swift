public import Errand
public import Metrics

/// Reports metrics for all calls, following OpenTelemetry's naming conventions where possible.
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
/// A duration covers one attempt, from acquiring its slot to the end of its body, because the conventions count each
/// resent request separately. It is a timer rather than a recorder so that the backend chooses the buckets and the
/// unit; seconds are suggested. A retry is any attempt after the first, including hedges. A failure is a call that
/// threw an error other than a cancellation. Calls that share a request are counted individually, but the shared
/// request's attempts only once.
///
/// A metric always has the same dimensions, because some backends require that. A dimension without a value is empty.
/// The values are task names, error names and statuses, never URLs. A task named with `.named(…)` is counted under that
/// name, so use only a few names.
public struct CallMetrics: TaskObserver {
  let factory: any MetricsFactory

  /// Creates an observer that reports to `factory`. Defaults to the process's factory, which must be bootstrapped
  /// first.
  public init(factory: any MetricsFactory = MetricsSystem.factory) { self.factory = factory }

  /// Inline, because counting is cheap and events could otherwise be lost.
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
