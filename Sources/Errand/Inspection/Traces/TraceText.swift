/// Spans as OTLP writes them in JSON: identifiers in hexadecimal, numbers of 64 bits as text.
struct TraceText {
  private(set) var bytes: [UInt8] = []

  /// A request to export spans of one service; also a line of a file.
  init(_ spans: [RecordedSpan], resource: [(name: String, value: String)], version: String) {
    bytes.reserveCapacity(1024 * spans.count + 256)
    raw(#"{"resourceSpans":[{"resource":{"attributes":["#)
    list(resource) { $0.attribute($1.name, .text($1.value)) }
    raw(#"]},"scopeSpans":[{"scope":{"name":"errand","version":"#)
    text(version)
    raw(#"},"spans":["#)
    list(spans) { $0.span($1) }
    raw("]}]}]}")
  }

  private mutating func span(_ span: RecordedSpan) {
    raw(#"{"traceId":""#)
    raw(span.traceID.description)
    raw(#"","spanId":""#)
    raw(span.spanID.description)
    if let parent = span.parent {
      raw(#"","parentSpanId":""#)
      raw(parent.description)
    }
    raw(#"","flags":1,"name":"#)
    text(span.name)
    if !span.state.members.isEmpty {
      raw(#","traceState":"#)
      text(span.state.description)
    }
    raw(#","kind":"#)
    raw("\(span.kind.rawValue)")
    raw(#","startTimeUnixNano":""#)
    raw("\(span.start)")
    raw(#"","endTimeUnixNano":""#)
    raw("\(span.end)")
    raw(#"","attributes":["#)
    list(span.attributes) { $0.attribute($1.name, $1.value) }
    raw("]")
    if !span.events.isEmpty {
      raw(#","events":["#)
      list(span.events) { $0.event($1) }
      raw("]")
    }
    if let failure = span.failure {
      raw(#","status":{"code":2,"message":"#)
      text(failure)
      raw("}")
    }
    raw("}")
  }

  private mutating func event(_ event: RecordedSpan.Event) {
    raw(#"{"timeUnixNano":""#)
    raw("\(event.time)")
    raw(#"","name":"#)
    text(event.name)
    raw(#","attributes":["#)
    attribute("errand.message", .text(event.text))
    raw("]}")
  }

  private mutating func attribute(_ name: String, _ value: RecordedSpan.Value) {
    raw(#"{"key":"#)
    text(name)
    switch value {
    case .text(let value):
      raw(#","value":{"stringValue":"#)
      text(value)
      raw("}}")
    case .number(let value): raw(#","value":{"intValue":"\#(value)"}}"#)
    }
  }

  private mutating func list<Element>(_ elements: [Element], _ write: (inout TraceText, Element) -> Void) {
    for (index, element) in elements.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      write(&self, element)
    }
  }

  private mutating func raw(_ text: String) { bytes.append(contentsOf: text.utf8) }

  /// A text in quotes, escaped (RFC 8259 §7).
  private mutating func text(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case 0..<0x20: raw("\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))")
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
