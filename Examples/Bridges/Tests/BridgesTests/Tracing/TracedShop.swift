import Errand
import ErrandTesting
import ErrandTracing
import Foundation
import InMemoryTracing
import Tracing

/// A shop with a mock server whose spans are kept in memory.
struct TracedShop {
  let mock: MockServer
  let server: Server
  let tracer = InMemoryTracer()

  init() async throws {
    mock = try MockServer()
    server = Server(Remote(mock.url))
    await install(in: server)
  }

  /// Installs the steps as in the README.
  func install(in server: Server) async {
    await server.update { [tracer] in
      $0.perCallSteps.append(TracedCalls(tracer: tracer))
      $0.perAttemptSteps.append(TracedAttempts(of: server, tracer: tracer))
    }
  }

  var calls: [FinishedInMemorySpan] { tracer.finishedSpans.filter { $0.kind == .internal } }
  var attempts: [FinishedInMemorySpan] { tracer.finishedSpans.filter { $0.kind == .client } }

  /// Returns the attributes of an attempt at this shop, plus `others`.
  func attributes(_ others: [String: SpanAttribute] = [:]) -> SpanAttributes {
    let port = mock.url.port ?? 0
    var attributes: SpanAttributes = [
      "http.request.method": "GET", "server.address": "127.0.0.1", "server.port": .int(Int64(port)),
    ]
    attributes.merge(SpanAttributes(others))
    return attributes
  }
}
