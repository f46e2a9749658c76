public import Errand
public import ErrandFoundation

/// Creates spans for calls, following OpenTelemetry's HTTP client conventions, and exports them.
///
///     let spans = SpanRecorder(to: .collector("http://127.0.0.1:4318"))
///     await shop.update { $0.observers.append(spans) }
///
/// A call is a span of kind `INTERNAL`. Each of its attempts is a child span of kind `CLIENT`. Both kinds of spans end
/// when the body ends. The request's `traceparent` contains the attempt's span ID. A call made within a
/// `TraceContext` joins that trace and follows its sampling decision. Any other call starts a new trace.
///
/// Spans wait in a bounded queue and are exported in batches. Calls never wait for the export. Secrets are hidden.
public final class SpanRecorder: TaskObserver {
  /// The fraction of new traces that are recorded.
  public let traceSampling: TraceSampling

  private let queue: SpanQueue

  /// Creates a recorder.
  ///
  /// - Parameters:
  ///   - exporter: The exporter that receives the spans.
  ///   - service: The program's name (`service.name`). Defaults to the name of the process.
  ///   - attributes: Additional resource attributes, such as `deployment.environment.name`.
  ///   - sampling: The fraction of new traces that are recorded. Defaults to all.
  ///   - limits: The maximum number of waiting spans, the batch size, and the maximum delay.
  ///   - clock: The clock used to wait.
  ///   - log: Receives a line when exporting starts to fail.
  public init(
    to exporter: SpanExporter, service: String = ProcessInfo.processInfo.processName,
    attributes: [String: String] = [:],
    sampling: TraceSampling = .all, limits: SpanLimits = SpanLimits(), clock: CallClock = .continuous,
    log: LogOutput = .standardError
  ) {
    traceSampling = sampling
    var resource = [(name: "service.name", value: service), (name: "telemetry.sdk.name", value: "errand")]
    for (name, value) in attributes.sorted(by: { $0.key < $1.key }) { resource.append((name, value)) }
    queue = SpanQueue(exporter, resource: resource, limits: limits, clock: clock, log: log)
  }

  deinit { queue.hurry() }

  /// Delivers events inline, because the recorder only stores the events.
  public var delivery: ObserverDelivery { .inline }

  /// Observes only the end of calls, when all data is available.
  public var interest: ObserverInterest { .ends }

  /// Records the spans of a finished call.
  public func observe(_ event: TaskEvent) {
    if let spans = SpanAssembly(event) { queue.add(spans) }
  }

  /// The number of spans dropped because the queue was full, or because the exporter failed or rejected them.
  public var dropped: Int { queue.dropped }

  /// Exports the currently waiting spans. Returns when the export has finished or failed, without waiting for later
  /// spans.
  ///
  /// Returns early if the surrounding task is cancelled. The spans are still exported later.
  public func flush() async { await queue.flush() }
}

/// The limits of a ``SpanRecorder``.
public struct SpanLimits: Sendable, Hashable {
  /// The maximum number of waiting spans. Further spans are dropped.
  public var waiting: Int
  /// The maximum number of spans in a batch.
  public var batch: Int
  /// The maximum time that a span waits for more spans before it is exported.
  public var delay: Duration

  /// Creates limits. Defaults to 2,048 waiting spans, batches of 512, and a delay of 5 seconds.
  public init(waiting: Int = 2048, batch: Int = 512, delay: Duration = .seconds(5)) {
    self.waiting = max(1, waiting)
    self.batch = max(1, batch)
    self.delay = max(.zero, delay)
  }
}
