public import Errand
public import Tracing

extension TraceContext {
  /// Creates the context that an instrument would propagate, or `nil` if it has no W3C Trace Context.
  ///
  ///     try await TraceContext.$current.withValue(TraceContext(.current ?? .topLevel)) {
  ///       _ = try await GetWidget(id: 7).download()  // continues the trace of the surrounding span
  ///     }
  ///
  /// Use it with the `SpanRecorder` of `ErrandInspection` and for logs with trace IDs. ``TracedAttempts``
  /// does not require it.
  public init?(_ context: ServiceContext, instrument: any Instrument = InstrumentationSystem.instrument) {
    var headers = HTTPHeaders()
    instrument.inject(context, into: &headers, using: HeaderInjector())
    self.init(headers)
  }
}

extension ServiceContext {
  /// Creates a context that continues one of Errand's traces, such as the trace of an incoming request or of
  /// `event.span`. The instrument must support W3C Trace Context.
  public init(_ trace: TraceContext, instrument: any Instrument = InstrumentationSystem.instrument) {
    self = .topLevel
    instrument.extract(trace.headers, into: &self, using: HeaderExtractor())
  }
}
