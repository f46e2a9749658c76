import ErrandInspection

#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  @Suite(
    .enabled(if: TraceReceiver.isExpected, "python3 with flask and opentelemetry-proto is not installed"),
    .timeLimit(.minutes(3)))
  struct TraceExportTests {
    private struct GetThing: ServerGETTask {
      var path: String { "things/7" }
      var query: HTTPQuery { ["token": "planted1", "page": "2"] }
    }

    @Test func `a third-party collector reads the exported spans`() async throws {
      let receiver = try await TraceReceiver()
      try await receiver.fail(with: 503, 429)
      let mock = try MockServer()
      mock.route("/things/7", answer: .json("{}"))
      mock.enqueue(.status(503))
      let spans = SpanRecorder(to: .collector(Remote(receiver.url)), service: "shop ✓", log: .discard)
      var configuration = ServerConfiguration()
      configuration.observers = [spans]
      configuration.log = .discard
      let server = Server(Remote(mock.url), configuration: configuration, environment: [:])
      var context = try #require(
        TraceContext(traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
      try context.state.set("1", for: "shop")
      try await TraceContext.$current.withValue(context) {
        try await GetThing().on(server).retry(upTo: 1, after: .milliseconds(1)).run()
      }
      await spans.flush()
      #expect(spans.dropped == 0)
      let all = try await receiver.spans()
      #expect(all.map(\.name) == ["GET", "GET", "GetThing"])
      #expect(all.map(\.kind) == ["SPAN_KIND_CLIENT", "SPAN_KIND_CLIENT", "SPAN_KIND_INTERNAL"])
      #expect(all.allSatisfy { $0.service == "shop ✓" && $0.scope == "errand" && $0.state == "shop=1" })
      #expect(all.allSatisfy { $0.trace == "0af7651916cd43dd8448eb211c80319c" && $0.start <= $0.end })
      #expect(all[2].parent == "b7ad6b7169203331" && all[0].parent == all[2].span && all[1].parent == all[2].span)
      let sent = mock.requests.compactMap { $0.headers["traceparent"]?.split(separator: "-")[2] }
      #expect(sent.map { String($0) } == [all[0].span, all[1].span])
      #expect(all[0].status == "STATUS_CODE_ERROR 503 Service Unavailable" && all[1].status == "STATUS_CODE_UNSET ")
      let attributes = all[1].attributes
      #expect(attributes["http.response.status_code"] == "200" && attributes["http.request.resend_count"] == "1")
      #expect(attributes["server.port"] == "\(mock.url.port ?? 0)" && attributes["network.protocol.version"] == "1.1")
      #expect(attributes["url.full"]?.hasSuffix("/things/7?token=<redacted>&page=2") == true, "\(attributes)")
      #expect(all[2].events == ["delayStarted"])
      let requests = try await receiver.requests()
      #expect(requests == ["", "", ""], "two requests were resent, and none has a traceparent header")
    }

    @Test func `counts spans rejected by the collector as dropped without failing calls`() async throws {
      let receiver = try await TraceReceiver()
      try await receiver.fail(with: 400)
      let lines = Shared<[String]>([])
      let spans = SpanRecorder(
        to: .collector(Remote(receiver.url)), log: LogOutput { line in lines.withLock { $0.append(line) } })
      let mock = try MockServer()
      mock.route("/things/7", answer: .json("{}"))
      var configuration = ServerConfiguration()
      configuration.observers = [spans]
      let server = Server(Remote(mock.url), configuration: configuration, environment: [:])
      try await GetThing().on(server).run()
      await spans.flush()
      #expect(spans.dropped == 2 && lines.withLock { $0 }.first?.contains("400") == true)
      try await GetThing().on(server).run()
      await spans.flush()
      #expect(try await receiver.spans().count == 2 && spans.dropped == 2)
    }
  }
#endif
