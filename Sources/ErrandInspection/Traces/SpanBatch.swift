/// Spans waiting to be exported, in the exporter's format. They don't retain their calls.
struct SpanBatch: Sendable {
  enum Form: Sendable {
    case values
    /// An OTLP/JSON request.
    case request
    /// An OTLP/JSON request on one line of a file.
    case line
  }

  private(set) var count = 0
  private(set) var spans: [RecordedSpan] = []
  private(set) var bytes: [UInt8] = []

  private static let version: StaticString = "1"

  /// Adds some of a call's spans. The batch's first spans are preceded by its opening text.
  mutating func add(_ part: Range<Int>, of call: CallSpans, resource: [(name: String, value: String)]) {
    switch call {
    case .values(let more): spans += more[part]
    case .text(let more):
      if count == 0 { bytes += TraceText.head(resource, version: Self.version) }
      bytes += more.part(part, isFirst: count == 0)
    }
    count += part.count
  }

  mutating func close(_ form: Form) {
    switch form {
    case .values: break
    case .request: bytes += TraceText.tail
    case .line: bytes += TraceText.tail + [UInt8(ascii: "\n")]
    }
  }

  mutating func removeAll() {
    count = 0
    spans.removeAll()
    bytes.removeAll(keepingCapacity: true)
  }
}

enum CallSpans {
  case values([RecordedSpan])
  case text(TraceText.Spans)

  init(_ assembly: SpanAssembly, _ form: SpanBatch.Form) {
    switch form {
    case .values:
      var list = SpanList()
      assembly.notify(&list)
      self = .values(list.spans)
    case .request, .line:
      var text = TraceText(capacity: 2400)
      assembly.notify(&text)
      self = .text(text.spans)
    }
  }

  var count: Int {
    switch self {
    case .values(let spans): spans.count
    case .text(let spans): spans.count
    }
  }
}
