public import ErrandFoundation

/// Makes spans of calls, with the names of OpenTelemetry's conventions for HTTP clients, and hands them to an exporter.
///
///     let spans = SpanRecorder(to: .collector("http://127.0.0.1:4318"))
///     await shop.update { $0.observers.append(spans) }
///
/// A call is a span of kind `INTERNAL`, and each of its attempts one of kind `CLIENT` below it; both last until the body has ended. The
/// request names the span of its attempt in `traceparent`. A call that is made within a ``TraceContext`` takes part in that trace, and in
/// its decision to be recorded; any other begins one.
///
/// Spans wait in a queue of limited size, and are handed over in batches; no call waits for that. Secrets are hidden as in all that
/// people may read.
public final class SpanRecorder: TaskObserver {
  /// The part of new traces that is recorded.
  public let traceSampling: TraceSampling

  private let queue: SpanQueue

  /// Begins to record.
  ///
  /// - Parameters:
  ///   - exporter: Takes the spans.
  ///   - service: The name of the program, `service.name`; that of the process unless given.
  ///   - attributes: More that is said of it, as `deployment.environment.name`.
  ///   - sampling: The part of new traces that is recorded; all unless given.
  ///   - limits: How many spans wait, and for how long.
  ///   - clock: By which they wait.
  ///   - log: Gets a line when exporting begins to fail.
  public init(
    to exporter: SpanExporter, service: String = ProcessInfo.processInfo.processName,
    attributes: [String: String] = [:],
    sampling: TraceSampling = .all, limits: SpanLimits = SpanLimits(), clock: CallClock = .continuous,
    log: TextSink = .standardError
  ) {
    traceSampling = sampling
    var resource = [(name: "service.name", value: service), (name: "telemetry.sdk.name", value: "errand")]
    for (name, value) in attributes.sorted(by: { $0.key < $1.key }) { resource.append((name, value)) }
    queue = SpanQueue(exporter, resource: resource, limits: limits, clock: clock, log: log)
  }

  deinit { queue.hurry() }

  /// At once: it takes a note.
  public var delivery: ObserverDelivery { .inline }

  /// The end of a call, when all is known.
  public var interest: ObserverInterest { .ends }

  /// Takes down the spans of a call that has ended.
  public func observe(_ event: TaskEvent) {
    if let spans = SpanAssembly(event) { queue.add(spans) }
  }

  /// The number of spans that were dropped: there was no room for them, or the exporter could not, or would not, take them.
  public var dropped: Int { queue.dropped }

  /// Hands over the spans that wait now, and returns when that is done or has failed. Doesn't wait for later spans.
  ///
  /// Returns early when the surrounding task is cancelled; the spans are still handed over later.
  public func flush() async { await queue.flush() }
}

/// The limits of a ``SpanRecorder``.
public struct SpanLimits: Sendable, Hashable {
  /// The most spans that wait; those that come then are dropped.
  public var waiting: Int
  /// The most spans that are handed over at once.
  public var batch: Int
  /// The time that a span waits for others.
  public var delay: Duration

  /// 2,048 waiting, 512 at once, 5 seconds, unless given.
  public init(waiting: Int = 2048, batch: Int = 512, delay: Duration = .seconds(5)) {
    self.waiting = max(1, waiting)
    self.batch = max(1, batch)
    self.delay = max(.zero, delay)
  }
}
