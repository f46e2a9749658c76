public import Errand

/// A finished span of a trace, as exported by a ``SpanRecorder``.
///
/// Names follow OpenTelemetry's semantic conventions for HTTP clients.
public struct RecordedSpan: Sendable, Hashable {
  /// A span's kind. The raw values match OTLP.
  public enum Kind: Int, Sendable, Hashable {
    /// A span for a call.
    case `internal` = 1
    /// A span for an attempt.
    case client = 3
  }

  /// An attribute's value.
  public enum Value: Sendable, Hashable {
    /// A string.
    case text(String)
    /// An integer.
    case number(Int)
  }

  /// A span's attribute.
  public struct Attribute: Sendable, Hashable {
    /// The attribute's name.
    public let name: String
    /// The attribute's value.
    public let value: Value

    init(_ name: String, _ value: Value) { (self.name, self.value) = (name, value) }
  }

  /// An event during a span.
  public struct Event: Sendable, Hashable {
    /// The name of the corresponding `CallMoment`.
    public let name: String
    /// The event's time, in nanoseconds since 1970.
    public let time: UInt64
    /// A description of the event.
    public let text: String
  }

  /// The trace's ID.
  public let traceID: TraceID
  /// The span's ID.
  public let spanID: SpanID
  /// The parent span's ID. `nil` if this span is the root of the trace.
  public let parent: SpanID?
  /// The `tracestate` from upstream tracing systems.
  public let state: TraceState
  /// The span's name. For an attempt, this is the method. For a call, it is the task's type name or custom name.
  public let name: String
  /// The span's kind.
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

  /// Returns an attribute's value, or `nil` if there is no such attribute.
  public subscript(attribute: String) -> Value? { attributes.first { $0.name == attribute }?.value }
}
