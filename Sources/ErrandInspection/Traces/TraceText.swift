import Errand

/// Writes spans as OTLP/JSON, with hexadecimal IDs, and 64-bit integers as strings.
struct TraceText: SpanWriter, ~Copyable {
  struct Spans {
    /// The spans, each preceded by a comma.
    fileprivate let bytes: [UInt8]
    /// The end position of each span.
    fileprivate let ends: [Int]

    var count: Int { ends.count }

    /// Returns some of the spans. If `isFirst` is `true`, omits the comma before the first span.
    func part(_ spans: Range<Int>, isFirst: Bool) -> ArraySlice<UInt8> {
      guard !spans.isEmpty else { return [] }
      let start = spans.lowerBound == 0 ? 0 : ends[spans.lowerBound - 1]
      return bytes[(isFirst ? start + 1 : start)..<ends[spans.upperBound - 1]]
    }
  }

  private var text: TextBytes
  private var ends: [Int] = []
  private var hasAttributes = false
  private var hasEvents = false

  init(capacity: Int) { text = TextBytes(capacity: capacity) }

  var spans: Spans { Spans(bytes: text.bytes, ends: ends) }

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
    ends.append(text.count)
  }

  // MARK: A request

  /// Returns the beginning of a request or line that exports one service's spans.
  static func head(_ resource: [(name: String, value: String)], version: StaticString) -> [UInt8] {
    var text = TextBytes()
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
    return text.bytes
  }

  static let tail = Array("]}]}]}".utf8)
}
