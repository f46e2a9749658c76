import Errand
import ErrandHTTPTypes
import ErrandLogging
import ErrandMetrics
import ErrandTracing
import HTTPTypes
import Logging
import Tracing

// The code in the README. A test keeps them in sync.

func installation() async {
  let shop = Server("https://shop.example.com/v1")
  let metrics = CallMetrics()
  await shop.update {
    $0.observers = [CallLogger(Logger(label: "shop")), metrics]
    $0.perCallSteps.append(TracedCalls())
    $0.perAttemptSteps.append(TracedAttempts(of: shop))
  }
  Task { await metrics.watch(shop.gauges(every: .seconds(5)), of: "shop") }
}

func carryingOn(_ shop: Server) async throws {
  try await TraceContext.$current.withValue(TraceContext(.current ?? .topLevel)) {
    _ = try await GetWidget(id: 7).on(shop).download()
  }
}

func converting(_ request: Errand.HTTPRequest) throws -> Errand.HTTPRequest {
  let head = try HTTPTypes.HTTPRequest(request)
  let copy = try Errand.HTTPRequest(head, body: request.body)
  return copy
}
