import Errand
import ErrandTesting
import ErrandTracing
import Testing
import Tracing

struct ServiceContextTests {
  private let instrument = W3CInstrument()

  private static func trace() throws -> TraceContext {
    var trace = try #require(TraceContext(traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
    try trace.state.set("1", for: "shop")
    try trace.baggage.set("7", for: "tenant")
    return trace
  }

  @Test func `a call within a service context continues its trace`() async throws {
    let (mock, trace) = (try MockServer(), try Self.trace())
    mock.enqueue(.status(204))
    var context = ServiceContext.topLevel
    context[W3CInstrument.Key.self] = trace
    let carried = try #require(TraceContext(context, instrument: instrument))
    #expect(carried == trace)
    _ = try await TraceContext.$current.withValue(carried) {
      try await URLTask(mock.url).on(Server(Remote(mock.url))).run()
    }
    let sent = try #require(TraceContext(try await mock.nextRequest().headers))
    #expect(sent.traceID == trace.traceID && sent.state == trace.state && sent.baggage == trace.baggage)
  }

  @Test func `a service context continues one of Errand's traces`() throws {
    let context = ServiceContext(try Self.trace(), instrument: instrument)
    #expect(context[W3CInstrument.Key.self] == (try Self.trace()))
  }

  @Test func `a context without a trace converts to nil`() {
    #expect(TraceContext(.topLevel, instrument: instrument) == nil)
  }
}
