import ErrandTesting
import Foundation
import Testing

@testable import Errand
@testable import ErrandInspection

/// The text and the values of spans have the same content.
@Suite(.timeLimit(.minutes(1))) struct TraceTextTests {
  /// Observes the ends of calls and starts traces.
  private struct Ends: TaskObserver {
    let seen = Shared<[TaskEvent]>([])
    var delivery: ObserverDelivery { .inline }
    var interest: ObserverInterest { .ends }
    var traceSampling: TraceSampling { .all }
    func observe(_ event: TaskEvent) { seen.withLock { $0.append(event) } }
  }

  private func batch(_ calls: [CallSpans], _ form: SpanBatch.Form, per size: Int) -> [SpanBatch] {
    var batches = [SpanBatch()]
    for call in calls {
      for index in 0..<call.count {
        if batches[batches.count - 1].count == size { batches.append(SpanBatch()) }
        batches[batches.count - 1].add(index..<index + 1, of: call, resource: [("service.name", "a \"shop\"\n\u{1}✓")])
      }
    }
    for index in batches.indices { batches[index].close(form) }
    return batches
  }

  @Test(arguments: [1, 2, 3, 100]) func `spans have the same content as text and as values for any batch size`(
    size: Int
  ) async throws {
    let ends = Ends()
    let stub = StubServer(
      .status(302, ["Location": "/odd%22?token=planted1&a=1"]), .status(404), .status(503), .status(.ok)
    ) { $0.observers = [ends] }
    var context = try #require(TraceContext(traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
    try context.state.set("1", for: "shop")
    _ = try await TraceContext.$current.withValue(context) {
      await #expect(throws: TaskError.self) { try await PlainTask().on(stub.server).run() }
      try await PlainTask().on(stub.server).retry(upTo: 1, after: .seconds(1)).run()
    }
    let assemblies = ends.seen.withLock { $0 }.compactMap { SpanAssembly($0) }
    let values = batch(assemblies.map { CallSpans($0, .values) }, .values, per: size)
    let lines = batch(assemblies.map { CallSpans($0, .line) }, .line, per: size)
    #expect(values.map(\.count) == lines.map(\.count) && values.reduce(0) { $0 + $1.count } == 5)
    #expect(values.first?.spans.first?.events.map(\.name) == ["redirected"])
    for (value, line) in zip(values, lines) {
      #expect(line.bytes.last == UInt8(ascii: "\n"))
      let request = try JSONDecoder().decode(JSONValue.self, from: Data(line.bytes))["resourceSpans"]?[0]
      let service = request?["resource"]?["attributes"]?[0]?["value"]?["stringValue"]
      #expect(service == .string("a \"shop\"\n\u{1}✓"))
      #expect(request?["scopeSpans"]?[0]?["spans"] == .array(value.spans.map { described($0) }))
    }
    #expect(!lines.contains { String(decoding: $0.bytes, as: UTF8.self).contains("planted1") })
  }

  /// Encodes a span as OTLP does.
  private func described(_ span: RecordedSpan) -> JSONValue {
    func attribute(_ name: String, _ value: RecordedSpan.Value) -> JSONValue {
      let value: JSONValue =
        switch value {
        case .text(let text): ["stringValue": .string(text)]
        case .number(let number): ["intValue": .string("\(number)")]
        }
      return ["key": .string(name), "value": value]
    }
    var json: [String: JSONValue] = [
      "traceId": .string("\(span.traceID)"), "spanId": .string("\(span.spanID)"), "flags": 1,
      "name": .string(span.name), "kind": .integer(Int64(span.kind.rawValue)),
      "startTimeUnixNano": .string("\(span.start)"), "endTimeUnixNano": .string("\(span.end)"),
      "attributes": .array(span.attributes.map { attribute($0.name, $0.value) }),
    ]
    if let parent = span.parent { json["parentSpanId"] = .string("\(parent)") }
    if !span.state.members.isEmpty { json["traceState"] = .string("\(span.state)") }
    if !span.events.isEmpty {
      json["events"] = .array(
        span.events.map { event in
          [
            "timeUnixNano": .string("\(event.time)"), "name": .string(event.name),
            "attributes": [attribute("errand.message", .text(event.text))],
          ]
        })
    }
    if let failure = span.failure { json["status"] = ["code": 2, "message": .string(failure)] }
    return .object(json)
  }
}
