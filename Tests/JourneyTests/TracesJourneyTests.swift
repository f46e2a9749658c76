import Errand
import ErrandInspection
import ErrandTesting
import Foundation
import Testing

/// Traces on real sockets: propagated headers and exported spans.
@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct TracesJourneyTests {
  private let taken = Shared<[RecordedSpan]>([])

  private func recorder(_ sampling: TraceSampling = .all) -> SpanRecorder {
    SpanRecorder(to: .spans { [taken] spans in taken.withLock { $0 += spans } }, sampling: sampling)
  }

  private func context(_ flags: String = "01") throws -> TraceContext {
    var context = try #require(
      TraceContext(traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-\(flags)"))
    try context.state.set("1", for: "shop")
    try context.baggage.set("planted7", for: "user")
    return context
  }

  @Test func `propagates trace headers only within a trace context`() async throws {
    let shop = try Shop()
    _ = try await GetWidget().on(shop.server).download()
    let context = try context("00")
    _ = try await TraceContext.$current.withValue(context) { try await GetWidget().on(shop.server).download() }
    let sent = shop.mock.requests
    #expect(sent[0].headers[.traceparent] == nil && sent[0].headers[.baggage] == nil)
    let parent = try #require(TraceContext(sent[1].headers))
    #expect(parent.traceID == context.traceID && parent.spanID != context.spanID && !parent.isSampled)
    #expect(parent.state == context.state && parent.baggage == context.baggage)
  }

  @Test func `keeps the task's own trace header and sends none if propagation is off`() async throws {
    let shop = try Shop()
    try await TraceContext.$current.withValue(context()) {
      let mine = "00-11111111111111111111111111111111-2222222222222222-01"
      _ = try await GetWidget().on(shop.server).header("traceparent", mine).download()
      await shop.server.update { $0.propagatesTraces = false }
      _ = try await GetWidget().on(shop.server).download()
      #expect(shop.mock.requests.map { $0.headers[.traceparent] } == [mine, nil])
      #expect(shop.mock.requests.allSatisfy { $0.headers[.baggage] == nil })
    }
  }

  @Test func `propagates traces to another origin only if it is trusted`() async throws {
    let (shop, other) = (try Shop(), try Shop())
    shop.mock.route("/away", answer: .status(302, headers: ["Location": other.url("widgets/7").absoluteString]))
    try await TraceContext.$current.withValue(context()) {
      try await URLTask(shop.url("away")).on(shop.server).run()
      #expect(shop.mock.requests.allSatisfy { $0.headers[.traceparent] != nil })
      #expect(other.mock.requests.map { $0.headers[.traceparent] } == [nil])
      #expect(other.mock.requests.allSatisfy { $0.headers[.tracestate] == nil && $0.headers[.baggage] == nil })
      await shop.server.update { $0.trustedOrigins = [other.mock.url.absoluteString] }
      try await URLTask(shop.url("away")).on(shop.server).run()
      #expect(other.mock.requests.last?.headers[.traceparent] != nil)
    }
  }

  @Test func `creates spans for a call and its attempts, named according to the conventions`() async throws {
    let recorder = recorder()
    let shop = try Shop { $0.observers = [recorder] }
    shop.mock.enqueue(.status(503))
    let context = try context()
    let response = try await TraceContext.$current.withValue(context) {
      try await GetWidget().on(shop.server).retry(upTo: 1, after: .milliseconds(1)).response()
    }
    await recorder.flush()
    let spans = taken.withLock { $0 }
    #expect(spans.map(\.name) == ["GET", "GET", "GetWidget"] && spans.map(\.kind) == [.client, .client, .internal])
    let (first, second, call) = (spans[0], spans[1], spans[2])
    #expect(spans.allSatisfy { $0.traceID == context.traceID && $0.state == context.state })
    #expect(call.parent == context.spanID && first.parent == call.spanID && second.parent == call.spanID)
    #expect(shop.mock.requests.map { TraceContext($0.headers)?.spanID } == [first.spanID, second.spanID])
    #expect(first["http.request.method"] == .text("GET") && first["server.address"] == .text("127.0.0.1"))
    #expect(first["server.port"] == .number(try #require(shop.mock.url.port)))
    #expect(first["url.full"] == .text(shop.url("widgets/7").absoluteString))
    #expect(first["http.response.status_code"] == .number(503) && first["error.type"] == .text("503"))
    #expect(first["http.request.resend_count"] == nil && first.failure == "503 Service Unavailable")
    #expect(second["http.request.resend_count"] == .number(1) && second["http.response.status_code"] == .number(200))
    #expect(second["network.protocol.version"] == .text("1.1") && second["error.type"] == nil && second.failure == nil)
    #expect(second["network.peer.address"] == .text("127.0.0.1"))
    #expect(call.events.map(\.name) == ["delayStarted"] && call.failure == nil && call["error.type"] == nil)
    #expect(call.start <= first.start && first.end <= second.start && second.end <= call.end)
    #expect(response.attempts.count == 2 && recorder.dropped == 0)
  }

  @Test func `the span of a failed call has an error type, and a stream's span ends with its body`() async throws {
    let recorder = recorder()
    let shop = try Shop { $0.observers = [recorder] }
    shop.mock.enqueue(.reset)
    _ = try? await GetWidget().on(shop.server).retry(.never).download()
    shop.mock.enqueue(.json("no JSON"))
    _ = try? await GetWidget().on(shop.server).download()
    shop.mock.route("/plain", answer: .text("abc"))
    let response = try await PlainTask().on(shop.server).stream()
    #expect(try await response.body.collect() == Data("abc".utf8))
    #expect(
      await eventually {
        await recorder.flush()
        return taken.withLock { $0.count } == 6
      })
    let spans = taken.withLock { $0 }
    #expect(Set(spans.map(\.traceID)).count == 3)
    #expect(spans[0]["error.type"] == .text("connectionLost") && spans[1]["error.type"] == .text("connectionLost"))
    #expect(spans[1].parent == nil && spans[0].failure?.isEmpty == false)
    #expect(spans[2]["error.type"] == nil && spans[3]["error.type"] == .text("decodingFailed"))
    #expect(spans[4].end >= spans[4].start && spans[5].failure == nil)
  }

  @Test func `propagates but does not record unsampled traces, and records nested calls as child spans`() async throws {
    let recorder = recorder(.share(0))
    let shop = try Shop { $0.observers = [recorder] }
    _ = try await GetWidget().on(shop.server).download()
    let parent = try #require(TraceContext(shop.mock.requests[0].headers))
    #expect(!parent.isSampled)
    await shop.server.update { settings in
      settings.preflight = { task, _ in
        if task is GetWidget { try await PlainTask().on(shop.server).accepting(.all).run() }
      }
    }
    _ = try await TraceContext.$current.withValue(context()) { try await GetWidget().on(shop.server).download() }
    await recorder.flush()
    let spans = taken.withLock { $0 }
    #expect(spans.map(\.name) == ["GET", "PlainTask", "GET", "GetWidget"])
    #expect(spans[1].parent == spans[3].spanID, "the preflight's span is a child of its call's span")
  }

  @Test func `writes one line per batch to a file and rejects a symbolic link`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("new/spans.jsonl")
      let recorder = SpanRecorder(to: .file(file), service: "a \"shop\"\n")
      let shop = try Shop { $0.observers = [recorder] }
      for _ in 1...2 {
        _ = try await GetWidget().on(shop.server).download()
        await recorder.flush()
      }
      let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      #expect(lines.count == 2)
      for line in lines {
        let value = try JSONDecoder().decode(JSONValue.self, from: Data(line.utf8))
        let resource = value["resourceSpans"]?[0]?["resource"]?["attributes"]?[0]?["value"]?["stringValue"]
        #expect(resource == .string("a \"shop\"\n"))
      }
      let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? NSNumber
      #expect(mode?.intValue == 0o600)
      let link = folder.appendingPathComponent("link")
      try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
      let lines2 = Shared<[String]>([])
      let other = SpanRecorder(to: .file(link), log: LogOutput { line in lines2.withLock { $0.append(line) } })
      await shop.server.update { $0.observers = [other] }
      _ = try await GetWidget().on(shop.server).download()
      await other.flush()
      #expect(other.dropped == 2 && lines2.withLock { $0.count } == 1)
      let below = SpanRecorder(
        to: .file(file.appendingPathComponent("a/b")), log: LogOutput { line in lines2.withLock { $0.append(line) } })
      await shop.server.update { $0.observers = [below] }
      _ = try await GetWidget().on(shop.server).download()
      await below.flush()
      #expect(
        lines2.withLock { $0.last }?.contains("can't write spans to \(file.path)/a/b: ") == true, "the path is logged")
    }
  }

  @Test func `makes an existing span file readable only by its owner`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("spans.jsonl")
      try Data("{}\n".utf8).write(to: file)
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
      let recorder = SpanRecorder(to: .file(file))
      let shop = try Shop { $0.observers = [recorder] }
      _ = try await GetWidget().on(shop.server).download()
      await recorder.flush()
      let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? NSNumber
      #expect(mode?.intValue == 0o600 && recorder.dropped == 0)
    }
  }

  @Test(arguments: [(#""1""#, 1), ("1", 1), ("1000", 2), ("-1", 0), (#""none""#, 0)])
  func `counts spans that a collector rejects as dropped, up to the number of spans sent`(count: String, dropped: Int)
    async throws
  {
    let collector = try MockServer()
    collector.route("/v1/traces", answer: .json(#"{"partialSuccess":{"rejectedSpans":\#(count)}}"#))
    let recorder = SpanRecorder(to: .collector(Remote(collector.url)))
    let shop = try Shop { $0.observers = [recorder] }
    _ = try await GetWidget().on(shop.server).download()
    await recorder.flush()
    #expect(recorder.dropped == dropped && collector.requestCount == 1)
  }

  @Test func `reports an unknown method as _OTHER and an IPv6 address without brackets`() async throws {
    let (recorder, shop) = (recorder(), try Shop())
    await shop.server.update { $0.observers = [recorder] }
    shop.mock.route("/plain", answer: .status(204))
    _ = try await Endpoint<Void, Void>.request("BREW", "plain").on(shop.server).run()
    let address = try #require(URL(string: "http://[::1]:1/plain"))
    _ = try? await URLTask(address).on(shop.server).retry(.never).run()
    await recorder.flush()
    let spans = taken.withLock { $0 }.filter { $0.kind == .client }
    #expect(spans.map(\.name) == ["HTTP", "GET"])
    #expect(spans[0]["http.request.method"] == .text("_OTHER"))
    #expect(spans[0]["http.request.method_original"] == .text("BREW"))
    #expect(spans[1]["server.address"] == .text("::1"))
  }

  @Test func `drops and counts spans that exceed the limit without delaying calls`() async throws {
    let gate = PauseBarrier()
    let recorder = SpanRecorder(
      to: .spans { [taken] spans in
        await gate.wait()
        taken.withLock { $0 += spans }
      }, limits: SpanLimits(waiting: 4, batch: 2, delay: .zero))
    let shop = try Shop { $0.observers = [recorder] }
    for _ in 0..<5 { _ = try await GetWidget().on(shop.server).download() }
    #expect(await eventually { recorder.dropped >= 2 })
    gate.open()
    await recorder.flush()
    #expect(taken.withLock { $0.count } + recorder.dropped == 10)
  }
}

/// A gate that blocks waiters until it opens.
private final class PauseBarrier: Sendable {
  private let isOpen = Shared(false)

  func open() { isOpen.withLock { $0 = true } }

  func wait() async { _ = await eventually { isOpen.withLock { $0 } } }
}
