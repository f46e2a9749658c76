/// A finished span of a trace, as exported by a ``SpanRecorder``.
///
/// Names follow OpenTelemetry's semantic conventions for HTTP clients.
public struct RecordedSpan: Sendable, Hashable {
  /// The kind of a span. The raw values are those of OTLP.
  public enum Kind: Int, Sendable, Hashable {
    /// A span for a call.
    case `internal` = 1
    /// A span for an attempt.
    case client = 3
  }

  /// The value of an attribute.
  public enum Value: Sendable, Hashable {
    /// A string.
    case text(String)
    /// An integer.
    case number(Int)
  }

  /// An attribute of a span.
  public struct Attribute: Sendable, Hashable {
    /// The name.
    public let name: String
    /// The value.
    public let value: Value

    init(_ name: String, _ value: Value) { (self.name, self.value) = (name, value) }
  }

  /// An event during a span.
  public struct Event: Sendable, Hashable {
    /// The name, which is that of a ``CallMoment``.
    public let name: String
    /// The time of the event, in nanoseconds since 1970.
    public let time: UInt64
    /// A description of the event.
    public let text: String
  }

  /// The ID of the trace.
  public let traceID: TraceID
  /// The ID of the span.
  public let spanID: SpanID
  /// The ID of the parent span. `nil` if this span is the root of the trace.
  public let parent: SpanID?
  /// The `tracestate` from upstream tracing systems.
  public let state: TraceState
  /// The method for an attempt. For a call, the name of the task's type or its custom name.
  public let name: String
  /// The kind of the span.
  public let kind: Kind
  /// The start time, in nanoseconds since 1970.
  public let start: UInt64
  /// The end time, in nanoseconds since 1970.
  public let end: UInt64
  /// The attributes, in order.
  public let attributes: [Attribute]
  /// The events, in order.
  public let events: [Event]
  /// A description of the failure, with secrets hidden. `nil` if the call or attempt succeeded.
  public let failure: String?

  /// The value of an attribute, or `nil`.
  public subscript(attribute: String) -> Value? { attributes.first { $0.name == attribute }?.value }
}
