/// A span of a trace that has ended: what a ``SpanRecorder`` hands over.
///
/// Names are those of OpenTelemetry's semantic conventions for HTTP clients.
public struct RecordedSpan: Sendable, Hashable {
  /// What a span stands for; the numbers are those of OTLP.
  public enum Kind: Int, Sendable, Hashable {
    /// A call.
    case `internal` = 1
    /// An attempt.
    case client = 3
  }

  /// The value of an attribute.
  public enum Value: Sendable, Hashable {
    /// A text.
    case text(String)
    /// A number.
    case number(Int)
  }

  /// A name and its value.
  public struct Attribute: Sendable, Hashable {
    /// The name.
    public let name: String
    /// The value.
    public let value: Value

    init(_ name: String, _ value: Value) { (self.name, self.value) = (name, value) }
  }

  /// Something that happened meanwhile.
  public struct Event: Sendable, Hashable {
    /// Its name: that of a ``CallMoment``.
    public let name: String
    /// When it was.
    public let time: UInt64
    /// The same in words.
    public let text: String
  }

  /// The trace.
  public let traceID: TraceID
  /// The span.
  public let spanID: SpanID
  /// The span around it; nil where the trace begins with it.
  public let parent: SpanID?
  /// What the tracing systems before have noted.
  public let state: TraceState
  /// The method for an attempt, the name of the task's type, or that it was given, for a call.
  public let name: String
  /// What it stands for.
  public let kind: Kind
  /// Its beginning, in nanoseconds since 1970.
  public let start: UInt64
  /// Its end.
  public let end: UInt64
  /// The attributes, in order.
  public let attributes: [Attribute]
  /// What happened meanwhile, in order.
  public let events: [Event]
  /// The failure in words, secrets hidden; nil where there was none.
  public let failure: String?

  /// The value of an attribute; nil where there is none.
  public subscript(attribute: String) -> Value? { attributes.first { $0.name == attribute }?.value }
}
