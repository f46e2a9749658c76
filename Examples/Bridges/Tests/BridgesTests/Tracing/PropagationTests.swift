import Errand
import ErrandTesting
import ErrandTracing
import Foundation
import InMemoryTracing
import Testing
import Tracing

/// Tests which requests get a tracer's headers.
struct PropagationTests {
  private static let field = HTTPHeaderName(InMemoryTracer.spanIDKey)

  @Test func `sends tracer headers to another origin only if it is trusted`() async throws {
    let (shop, other) = (try await TracedShop(), try MockServer())
    other.route("/", answer: .status(204))
    _ = try await URLTask(other.url).on(shop.server).run()
    await shop.server.update { $0.trustedOrigins = [other.url.absoluteString] }
    _ = try await URLTask(other.url).on(shop.server).run()
    #expect(other.requests.map { $0.headers[Self.field] } == [nil, shop.attempts.last?.spanID])
    #expect(shop.attempts.count == 2, "both attempts have a span")
  }

  @Test func `omits an invalid tracer header without failing the call`() async throws {
    let mock = try MockServer()
    mock.enqueue(.status(204))
    let server = Server(Remote(mock.url))
    let tracer = EndCountingTracer(sending: ["baggage": "a=1\r\nX-Evil: 1", "not a token": "1", "X-Trace": "7"])
    await server.update { $0.perAttemptSteps.append(TracedAttempts(of: server, tracer: tracer)) }
    _ = try await URLTask(mock.url).on(server).run()
    let request = try await mock.nextRequest()
    #expect(request.headers["X-Trace"] == "7" && request.headers["baggage"] == nil && request.headers["X-Evil"] == nil)
    #expect(tracer.ends == [1])
  }

  @Test func `a redirect to another origin drops the tracer headers`() async throws {
    let (shop, other) = (try await TracedShop(), try MockServer())
    shop.mock.enqueue(.status(302, headers: ["Location": other.url.absoluteString]))
    other.enqueue(.status(204))
    _ = try await URLTask(shop.mock.url).on(shop.server).run()
    #expect(shop.mock.requests.map { $0.headers[Self.field] } == [shop.attempts.first?.spanID])
    #expect(other.requests.map { $0.headers[Self.field] } == [nil])
    #expect(shop.attempts.map(\.attributes) == [shop.attributes(["http.response.status_code": 204])])
  }

  @Test func `sends no tracer headers if propagation is off`() async throws {
    let shop = try await TracedShop()
    await shop.server.update { $0.propagatesTraces = false }
    shop.mock.enqueue(.status(204))
    _ = try await URLTask(shop.mock.url).on(shop.server).run()
    #expect(shop.mock.requests.map { $0.headers[Self.field] } == [nil])
    #expect(shop.attempts.count == 1)
  }

  @Test func `does not change a request with its own traceparent`() async throws {
    let shop = try await TracedShop()
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    shop.mock.enqueue(.status(204))
    _ = try await URLTask(shop.mock.url).header(.traceparent, trace).on(shop.server).run()
    #expect(shop.mock.requests.map { $0.headers[.traceparent] } == [trace])
    #expect(shop.mock.requests.map { $0.headers[Self.field] } == [nil])
  }

  @Test func `keeps the request's own value of a tracer header, also after a redirect`() async throws {
    let (shop, other) = (try await TracedShop(), try MockServer())
    shop.mock.enqueue(.status(302, headers: ["Location": other.url.absoluteString]))
    other.enqueue(.status(204))
    _ = try await URLTask(shop.mock.url).header(Self.field, "own").on(shop.server).run()
    #expect((shop.mock.requests + other.requests).map { $0.headers[Self.field] } == ["own", "own"])
  }

  @Test func `a cache stores no response to a traced request unless the server authenticates it`()
    async throws
  {
    let shop = try await TracedShop()
    await shop.server.update { $0.cache = MemoryCache() }
    shop.mock.route("/", answer: .text("kept").header(.cacheControl, "private, max-age=60"))
    for _ in 0..<2 { _ = try await URLTask(shop.mock.url).on(shop.server).run() }
    #expect(shop.mock.requestCount == 2)
    await shop.server.update { $0.authentication = .bearer("token") }
    for _ in 0..<2 { _ = try await URLTask(shop.mock.url).on(shop.server).run() }
    #expect(shop.mock.requestCount == 3)
    #expect(shop.mock.requests.last?.headers.contains(Self.field) == true)
  }
}
