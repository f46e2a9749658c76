import Errand
import ErrandTesting
import ErrandTracing
import Foundation
import InMemoryTracing
import Testing
import Tracing

struct TracedAttemptsTests {
  @Test func `a request is a client span below its call's span and propagates its context`() async throws {
    let shop = try await TracedShop()
    shop.mock.enqueue(.json(#"{"id": 7}"#))
    _ = try await GetWidget(id: 7).on(shop.server).download()
    let (call, attempt) = (try #require(shop.calls.first), try #require(shop.attempts.first))
    #expect(shop.tracer.finishedSpans.count == 2)
    #expect(attempt.operationName == "GET")
    #expect(attempt.attributes == shop.attributes(["http.response.status_code": 200]))
    #expect(attempt.status == nil)
    #expect(attempt.parentSpanID == call.spanID)
    #expect(call.operationName == "HTTP call")
    #expect(call.parentSpanID == nil)
    #expect(call.attributes == ["http.request.method": "GET", "http.response.status_code": 200])
    #expect(call.status == nil)
    let headers = try await shop.mock.nextRequest().headers
    #expect(headers.values(for: HTTPHeaderName(InMemoryTracer.traceIDKey)) == [attempt.traceID])
    #expect(headers.values(for: HTTPHeaderName(InMemoryTracer.spanIDKey)) == [attempt.spanID])
  }

  @Test func `a retried call has two attempts in one trace, the second marked as resent`() async throws {
    let shop = try await TracedShop()
    shop.mock.enqueue(.status(503))
    shop.mock.enqueue(.json(#"{"id": 7}"#))
    _ = try await GetWidget(id: 7).on(shop.server).retry(upTo: 1, after: .zero).download()
    let call = try #require(shop.calls.first)
    #expect(shop.attempts.count == 2)
    let first = try #require(shop.attempts.first)
    #expect(first.attributes == shop.attributes(["http.response.status_code": 503, "error.type": "503"]))
    #expect(first.status == SpanStatus(code: .error))
    let second = try #require(shop.attempts.last)
    #expect(second.attributes == shop.attributes(["http.response.status_code": 200, "http.request.resend_count": 1]))
    #expect(second.status == nil)
    #expect(shop.attempts.map(\.parentSpanID) == [call.spanID, call.spanID])
    #expect(call.attributes == ["http.request.method": "GET", "http.response.status_code": 200])
    let key = HTTPHeaderName(InMemoryTracer.spanIDKey)
    #expect(shop.mock.requests.map { $0.headers[key] } == shop.attempts.map(\.spanID))
  }

  @Test func `a failed span has the error's fixed name and no message`() async throws {
    let shop = try await TracedShop()
    shop.mock.enqueue(.drop)
    await #expect(throws: TaskError.self) { try await GetWidget(id: 7).on(shop.server).retry(.never).download() }
    let (call, attempt) = (try #require(shop.calls.first), try #require(shop.attempts.first))
    #expect(attempt.attributes == shop.attributes(["error.type": "connectionLost"]))
    #expect(call.attributes == ["http.request.method": "GET", "error.type": "connectionLost"])
    for span in [call, attempt] {
      #expect(span.status == SpanStatus(code: .error))
      #expect(span.errors.isEmpty && span.events.isEmpty)
    }
  }

  @Test func `a cancelled call ends its spans as cancelled`() async throws {
    let shop = try await TracedShop()
    shop.mock.enqueue(.hang)
    let call = Task { [server = shop.server] in try await GetWidget(id: 7).on(server).download() }
    _ = try await shop.mock.nextRequest()
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    #expect(shop.attempts.map(\.attributes) == [shop.attributes(["error.type": "cancelled"])])
    #expect(shop.calls.map(\.attributes) == [["http.request.method": "GET", "error.type": "cancelled"]])
    #expect(shop.tracer.finishedSpans.map(\.status) == [SpanStatus(code: .error), SpanStatus(code: .error)])
    #expect(shop.tracer.activeSpans.isEmpty)
  }

  @Test func `a span lasts until the stream's body is read`() async throws {
    let shop = try await TracedShop()
    shop.mock.enqueue(.chunked([Data("one".utf8), Data("two".utf8)]))
    let response = try await URLTask(shop.mock.url).on(shop.server).stream()
    #expect(shop.attempts.isEmpty)
    #expect(shop.calls.count == 1, "the call's span ends with the head")
    while try await response.body.next() != nil { #expect(shop.attempts.isEmpty) }
    #expect(shop.attempts.map(\.attributes) == [shop.attributes(["http.response.status_code": 200])])
  }

  @Test func `a span ends when the body is abandoned`() async throws {
    let shop = try await TracedShop()
    shop.mock.enqueue(.endless(chunk: Data("more".utf8)))
    let response = try await URLTask(shop.mock.url).on(shop.server).stream()
    for try await _ in response.body { break }
    response.body.cancel()
    #expect(shop.attempts.map(\.attributes) == [shop.attributes(["http.response.status_code": 200])])
    #expect(shop.attempts.map(\.status) == [nil])
  }

  @Test func `a truncated body is a failure of its span`() async throws {
    let shop = try await TracedShop()
    shop.mock.enqueue(.truncated(body: Data("onetwo".utf8), after: 3))
    let task = URLTask(shop.mock.url).on(shop.server).retry(.never)
    let error = await #expect(throws: TaskError.self) { try await task.downloadData() }
    let code = try #require(error?.code.name)
    let expected = shop.attributes(["http.response.status_code": 200, "error.type": .string(code)])
    #expect(shop.attempts.map(\.attributes) == [expected])
    #expect(shop.attempts.map(\.status) == [SpanStatus(code: .error)])
  }

  @Test func `ends a span exactly once`() async throws {
    let (mock, tracer) = (try MockServer(), EndCountingTracer())
    let server = Server(Remote(mock.url))
    await server.update { $0.perAttemptSteps.append(TracedAttempts(of: server, tracer: tracer)) }
    mock.enqueue(.text("read"))
    let response = try await URLTask(mock.url).on(server).stream()
    _ = try await response.body.collect()
    response.body.cancel()
    mock.enqueue(.text("dropped"))
    try await URLTask(mock.url).on(server).stream().body.cancel()
    mock.enqueue(.text("run"))
    _ = try await URLTask(mock.url).on(server).run()
    #expect(tracer.ends == [1, 1, 1])
  }

  @Test func `passes bodies, files, trailers and timings through unchanged`() async throws {
    let shop = try await TracedShop()
    let body = Data(repeating: 7, count: 300_000)
    shop.mock.route("/body", answer: .data(body))
    let task = URLTask(shop.mock.url.appendingPathComponent("body")).on(shop.server)
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("errand-bridges-\(UUID())")
    defer { try? FileManager.default.removeItem(at: file) }
    #expect(try await task.downloadData() == body)
    _ = try await task.download(to: file)
    #expect(try Data(contentsOf: file) == body)
    #expect(try await task.run().metrics.timings != nil)
    shop.mock.enqueue(
      .raw(Data("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-End: 1\r\n\r\n".utf8)))
    let response = try await task.stream()
    #expect(try await response.body.collect() == Data("a".utf8))
    #expect(response.body.trailers["X-End"] == "1")
  }

  @Test func `an unknown method becomes _OTHER`() async throws {
    let shop = try await TracedShop()
    shop.mock.enqueue(.status(204))
    _ = try await URLTask(shop.mock.url, method: "PURGE").on(shop.server).run()
    let attempt = try #require(shop.attempts.first)
    let method: [String: SpanAttribute] = [
      "http.request.method": "_OTHER", "http.request.method_original": "PURGE", "http.response.status_code": 204,
    ]
    #expect(attempt.operationName == "HTTP")
    #expect(attempt.attributes == shop.attributes(method))
  }

  @Test func `an IPv6 address has no brackets, and other errors are named by type`() async throws {
    struct Odd: Error {}
    let (shop, stub) = (try await TracedShop(), StubTransport { _ in throw Odd() })
    let server = Server("https://[::1]:8443", transport: stub)
    await shop.install(in: server)
    await #expect(throws: (any Error).self) { try await GetWidget(id: 7).on(server).retry(.never).download() }
    let attempt = try #require(shop.attempts.first)
    #expect(attempt.attributes["server.address"]?.toSpanAttribute() == "::1")
    #expect(attempt.attributes["server.port"]?.toSpanAttribute() == 8443)
    #expect(attempt.attributes["error.type"]?.toSpanAttribute() == "Odd")
  }

  @Test func `a call's span is a child of the surrounding span`() async throws {
    let shop = try await TracedShop()
    shop.mock.enqueue(.json(#"{"id": 7}"#))
    try await shop.tracer.withSpan("checkout") { span in
      _ = try await GetWidget(id: 7).on(shop.server).download()
      #expect(shop.calls.first?.parentSpanID == span.spanID)
      #expect(shop.attempts.first?.traceID == span.traceID)
    }
  }

  @Test func `by default uses the tracer of the surrounding task`() async throws {
    let (mock, tracer) = (try MockServer(), InMemoryTracer())
    let server = Server(Remote(mock.url))
    await server.update {
      $0.perCallSteps.append(TracedCalls())
      $0.perAttemptSteps.append(TracedAttempts(of: server))
    }
    mock.enqueue(.json(#"{"id": 7}"#))
    try await withTracer(tracer) { _ = try await GetWidget(id: 7).on(server).download() }
    #expect(tracer.finishedSpans.map(\.kind) == [.client, .internal])
  }

  @Test func `spans contain no secrets from URLs and headers`() async throws {
    let shop = try await TracedShop()
    shop.mock.enqueue(.status(503))
    shop.mock.route("/secrets") { .status(302, headers: ["Location": $0.target]) }  // a loop, whose URL is in the error
    await #expect(throws: TaskError.self) {
      try await SecretTask().on(shop.server).retry(upTo: 1, after: .zero).run()
    }
    #expect(try await shop.mock.nextRequest().target.contains(SecretTask.secret))
    #expect(shop.attempts.count == 2)
    let text = "\(shop.tracer.finishedSpans)"
    #expect(text.contains("tooManyRedirects"))
    #expect(!text.contains(SecretTask.secret) && !text.contains("/secrets"))
  }
}
