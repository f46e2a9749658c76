public import Errand
public import Tracing

extension TraceContext {
  /// The context that an instrument would send on; nil where it states none as W3C Trace Context has it.
  ///
  ///     try await TraceContext.$current.withValue(TraceContext(.current ?? .topLevel)) {
  ///       _ = try await GetWidget(id: 7).download()  // carries on the trace of the surrounding span
  ///     }
  ///
  /// For calls whose spans a `SpanRecorder` makes, and for logs that name traces; ``TracedAttempts`` needs none of this.
  public init?(_ context: ServiceContext, instrument: any Instrument = InstrumentationSystem.instrument) {
    var headers = HTTPHeaders()
    instrument.inject(context, into: &headers, using: HeaderInjector())
    self.init(headers)
  }
}

extension ServiceContext {
  /// A context that carries on a trace of Errand's, as far as the instrument reads W3C Trace Context: that of a request that came in, or of
  /// `event.span`.
  public init(_ trace: TraceContext, instrument: any Instrument = InstrumentationSystem.instrument) {
    self = .topLevel
    instrument.extract(trace.headers, into: &self, using: HeaderExtractor())
  }
}
