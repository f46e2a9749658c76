import Errand

/// Writes spans, as values or as text.
///
/// A span's parts are written in this order: beginning, attributes, events, end.
protocol SpanWriter: ~Copyable {
  mutating func begin(_ head: SpanHead)
  mutating func attribute(_ name: StaticString, _ value: String)
  mutating func attribute(_ name: StaticString, _ value: Int)
  mutating func event(_ name: String, at time: UInt64, _ text: String)
  /// Ends the span. `failure` describes its failure, if any.
  mutating func end(failure: String?)
}

/// The parts of a span that are known at its beginning.
struct SpanHead {
  let call: CallSpan
  let spanID: SpanID
  let parent: SpanID?
  let name: String
  let kind: RecordedSpan.Kind
  let start: UInt64
  let end: UInt64
}

struct SpanList: SpanWriter {
  private(set) var spans: [RecordedSpan] = []
  private var head: SpanHead?
  private var attributes: [RecordedSpan.Attribute] = []
  private var events: [RecordedSpan.Event] = []

  mutating func begin(_ head: SpanHead) {
    self.head = head
    (attributes, events) = ([], [])
  }

  mutating func attribute(_ name: StaticString, _ value: String) {
    attributes.append(RecordedSpan.Attribute("\(name)", .text(value)))
  }

  mutating func attribute(_ name: StaticString, _ value: Int) {
    attributes.append(RecordedSpan.Attribute("\(name)", .number(value)))
  }

  mutating func event(_ name: String, at time: UInt64, _ text: String) {
    events.append(RecordedSpan.Event(name: name, time: time, text: text))
  }

  mutating func end(failure: String?) {
    guard let head else { return }
    spans.append(
      RecordedSpan(
        traceID: head.call.context.traceID, spanID: head.spanID, parent: head.parent, state: head.call.context.state,
        name: head.name, kind: head.kind, start: head.start, end: head.end, attributes: attributes, events: events,
        failure: failure))
    self.head = nil
  }
}
