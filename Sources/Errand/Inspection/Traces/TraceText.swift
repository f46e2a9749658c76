/// Spans as OTLP writes them in JSON: identifiers in hexadecimal, numbers of 64 bits as text.
struct TraceText: SpanWriter {
  private var text = TextBytes()
  /// The place behind each span.
  private(set) var ends: [Int] = []
  private var hasAttributes = false
  private var hasEvents = false

  /// Spans alone, each behind a comma.
  var bytes: [UInt8] { text.bytes }

  init(capacity: Int = 0) { text = TextBytes(capacity: capacity) }

  // MARK: Spans

  mutating func begin(_ head: SpanHead) {
    text.raw(#",{"traceId":""#)
    text.hex(head.call.context.traceID.high)
    text.hex(head.call.context.traceID.low)
    text.raw(#"","spanId":""#)
    text.hex(head.spanID.bits)
    if let parent = head.parent {
      text.raw(#"","parentSpanId":""#)
      text.hex(parent.bits)
    }
    text.raw(#"","flags":1,"name":"#)
    text.quoted(head.name)
    if !head.call.context.state.members.isEmpty {
      text.raw(#","traceState":"#)
      text.quoted(head.call.context.state.description)
    }
    text.raw(#","kind":"#)
    text.number(head.kind.rawValue)
    text.raw(#","startTimeUnixNano":""#)
    text.digits(UInt(head.start), atLeast: 1)
    text.raw(#"","endTimeUnixNano":""#)
    text.digits(UInt(head.end), atLeast: 1)
    text.raw(#"","attributes":["#)
    (hasAttributes, hasEvents) = (false, false)
  }

  mutating func attribute(_ name: StaticString, _ value: String) {
    key(name)
    text.raw(#"","value":{"stringValue":"#)
    text.quoted(value)
    text.raw("}}")
  }

  mutating func attribute(_ name: StaticString, _ value: Int) {
    key(name)
    text.raw(#"","value":{"intValue":""#)
    text.number(value)
    text.raw(#""}}"#)
  }

  private mutating func key(_ name: StaticString) {
    if hasAttributes { text.raw(#",{"key":""#) } else { text.raw(#"{"key":""#) }
    hasAttributes = true
    text.raw(name)
  }

  mutating func event(_ name: String, at time: UInt64, _ words: String) {
    if hasEvents { text.raw(#",{"timeUnixNano":""#) } else { text.raw(#"],"events":[{"timeUnixNano":""#) }
    hasEvents = true
    text.digits(UInt(time), atLeast: 1)
    text.raw(#"","name":"#)
    text.quoted(name)
    text.raw(#","attributes":[{"key":"errand.message","value":{"stringValue":"#)
    text.quoted(words)
    text.raw("}}]}")
  }

  mutating func end(failure: String?) {
    text.raw("]")
    if let failure {
      text.raw(#","status":{"code":2,"message":"#)
      text.quoted(failure)
      text.raw("}")
    }
    text.raw("}")
    ends.append(text.bytes.count)
  }

  // MARK: A request

  /// Begins a request to export the spans of one service; also a line of a file.
  mutating func open(_ resource: [(name: String, value: String)], version: StaticString) {
    text.raw(#"{"resourceSpans":[{"resource":{"attributes":["#)
    for (index, attribute) in resource.enumerated() {
      text.raw(index > 0 ? #",{"key":"# : #"{"key":"#)
      text.quoted(attribute.name)
      text.raw(#","value":{"stringValue":"#)
      text.quoted(attribute.value)
      text.raw("}}")
    }
    text.raw(#"]},"scopeSpans":[{"scope":{"name":"errand","version":""#)
    text.raw(version)
    text.raw(#""},"spans":["#)
  }

  /// Adds spans of another text to the request, whose first one is behind no comma.
  mutating func add(_ spans: Range<Int>, of other: TraceText, isFirst: Bool) {
    guard !spans.isEmpty else { return }
    let start = spans.lowerBound == 0 ? 0 : other.ends[spans.lowerBound - 1]
    text.add(other.bytes[(isFirst ? start + 1 : start)..<other.ends[spans.upperBound - 1]])
  }

  mutating func close() { text.raw("]}]}]}") }

  mutating func endLine() { text.byte(0x0A) }

  /// Begins anew in the same memory.
  mutating func removeAll() {
    text.removeAll()
    ends.removeAll(keepingCapacity: true)
  }
}
