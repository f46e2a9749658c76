import Tracing

/// A span that stores nothing and notifies its tracer when it ends.
struct CountedSpan: Tracing.Span {
  let context: ServiceContext
  let onEnd: @Sendable () -> Void

  var isRecording: Bool { false }
  var operationName: String {
    get { "" }
    nonmutating set {}
  }
  var attributes: SpanAttributes {
    get { [:] }
    nonmutating set {}
  }

  func setStatus(_ status: SpanStatus) {}
  func addEvent(_ event: SpanEvent) {}
  func addLink(_ link: SpanLink) {}
  func recordError<Instant: TracerInstant>(
    _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
  ) {}
  func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) { onEnd() }
}
