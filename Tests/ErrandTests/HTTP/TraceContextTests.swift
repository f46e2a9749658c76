import Testing

@testable import Errand

/// W3C Trace Context, levels 1 and 2, and W3C Baggage.
@Suite(.timeLimit(.minutes(1))) struct TraceContextTests {
  private static let trace = "0af7651916cd43dd8448eb211c80319c"
  private static let span = "b7ad6b7169203331"

  @Test(arguments: ["00", "01", "02", "03"]) func `parsing and writing preserve a traceparent`(flags: String) throws {
    let text = "00-\(Self.trace)-\(Self.span)-\(flags)"
    let context = try #require(TraceContext(traceparent: text))
    #expect(context.traceparent == text)
    #expect("\(context.traceID) \(context.spanID)" == "\(Self.trace) \(Self.span)")
    #expect(context.isSampled == ["01", "03"].contains(flags) && context.isRandom == ["02", "03"].contains(flags))
  }

  @Test(arguments: [
    "", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-1", "00-\(trace)-\(span)-01-", "00-\(trace)-\(span)-01-what",
    "ff-\(trace)-\(span)-01", "0-\(trace)-\(span)-01", "00-00000000000000000000000000000000-\(span)-01",
    "00-\(trace)-0000000000000000-01", "00-0AF7651916CD43DD8448EB211C80319C-\(span)-01", "00-\(trace)-\(span)-0x",
    "00_\(trace)_\(span)_01", " 00-\(trace)-\(span)-01", "00-\(trace)-\(span)-01 ", "01-\(trace)-\(span)-01.",
    "00-\(trace)\(span)-01", "00-+af7651916cd43dd8448eb211c80319c-\(span)-01",
  ]) func `rejects a malformed traceparent`(text: String) {
    #expect(TraceContext(traceparent: text) == nil)
  }

  @Test func `parses the known fields of a later traceparent version and drops unknown flags`() throws {
    for text in ["01-\(Self.trace)-\(Self.span)-09", "cc-\(Self.trace)-\(Self.span)-01-what-the-future-brings"] {
      #expect(try #require(TraceContext(traceparent: text)).traceparent == "00-\(Self.trace)-\(Self.span)-01")
    }
  }

  @Test func `requires exactly one traceparent and drops an invalid tracestate and invalid baggage members`() throws {
    let parent = "00-\(Self.trace)-\(Self.span)-01"
    var headers: HTTPHeaders = [
      "Traceparent": parent, "tracestate": "a=1,\t, b@c=2 ", "baggage": "x=1,=,y = a%20b ;p=q",
    ]
    headers.add("d/e*f=3", for: "TraceState")
    let context = try #require(TraceContext(headers))
    #expect(context.state.description == "a=1,b@c=2,d/e*f=3")
    #expect(context.baggage["x"] == "1" && context.baggage["y"] == "a b")
    #expect(context.baggage.description == "x=1,y=a%20b;p=q")
    #expect(
      context.headers.map { "\($0.name): \($0.value)" } == [
        "traceparent: \(parent)", "tracestate: a=1,b@c=2,d/e*f=3", "baggage: x=1,y=a%20b;p=q",
      ])
    headers["tracestate"] = "a=1,a=2"
    #expect(try #require(TraceContext(headers)).state == TraceState())
    headers.add(parent, for: "traceparent")
    #expect(TraceContext(headers) == nil, "two traceparent fields are invalid")
    #expect(TraceContext(HTTPHeaders()) == nil)
  }

  @Test(arguments: [
    "a", "=1", "a=", "A=1", "a b=1", "a=1=2", "a=é", "-a=1", "\(String(repeating: "a", count: 257))=1",
    "a=\(String(repeating: "1", count: 257))", (0...32).map { "k\($0)=1" }.joined(separator: ","),
  ]) func `rejects a malformed tracestate`(text: String) {
    #expect(TraceState([text]) == nil)
  }

  @Test func `a tracestate keeps at most 32 members, with the latest first`() throws {
    var state = try #require(TraceState([(1...32).map { "k\($0)=1" }.joined(separator: ",")]))
    try state.set("new", for: "k32")
    #expect(state.members.count == 32 && state.description.hasPrefix("k32=new,k1=1,"))
    try state.set("1", for: "mine")
    #expect(state.members.count == 32 && state["k31"] == nil && state["mine"] == "1")
    #expect(throws: TraceFieldError.self) { try state.set("a,b", for: "mine") }
    #expect(throws: TraceFieldError.self) { try state.set("1", for: "Mine") }
  }

  @Test func `baggage has at most 180 members, with unique names`() {
    let many = Baggage([(0..<20_000).map { "a\($0)=\($0)" }.joined(separator: ",")])
    #expect(many.members.count == 180 && many["a0"] == "0" && many["a180"] == nil)
    let again = Baggage(["a=1,b=2", "a=3,c="])
    #expect(again.members.map(\.name) == ["b", "a", "c"] && again["a"] == "3")
  }

  @Test func `baggage escapes any value and drops members that exceed the size limit`() throws {
    var baggage = Baggage()
    try baggage.set("a b,c;d=é%\"\\", for: "user-id")
    #expect(baggage.description == "user-id=a%20b%2Cc%3Bd=%C3%A9%25%22%5C")
    #expect(Baggage([baggage.description]) == baggage)
    #expect(throws: TraceFieldError.self) { try baggage.set("1", for: "a b") }
    #expect(Baggage(["a=%zz%+1%4"])["a"] == "%zz%+1%4", "an invalid escape is kept unchanged")
    try baggage.set(String(repeating: "x", count: 9000), for: "long")
    #expect(baggage.description.hasPrefix("user-id=") && !baggage.description.contains("long"))
    baggage.remove("user-id")
    #expect(baggage["user-id"] == nil)
  }

  @Test func `span IDs of attempts are distinct and deterministic`() throws {
    let span = try #require(SpanID(0x0123_4567_89AB_CDEF))
    let parts = (1...1000).map { span.part($0) }
    #expect(Set(parts).count == 1000 && !parts.contains(span) && parts[6] == span.part(7))
    #expect(SpanID(0) == nil && TraceID(high: 0, low: 0) == nil)
  }

  @Test func `samples a fraction of traces by trace ID`() throws {
    var low: UInt64 = 1
    let traces = (1...10_000).compactMap { _ -> TraceID? in
      low = low &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return TraceID(high: 1, low: (low ^ (low >> 29)))
    }
    let quarter = traces.filter { TraceSampling.share(0.25).samples($0) }
    #expect((2000...3000).contains(quarter.count))
    #expect(
      quarter.allSatisfy { TraceSampling.share(0.5).samples($0) },
      "a larger share includes every trace of a smaller share")
    #expect(traces.allSatisfy { TraceSampling.all.samples($0) && !TraceSampling.none.samples($0) })
    #expect(TraceSampling.none.union(.share(0.5)) == .share(0.5) && TraceSampling.all.union(.none) == .all)
  }
}
