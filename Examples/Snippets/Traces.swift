import Errand
import ErrandInspection
import Foundation

func traces(_ shop: Server, _ incoming: HTTPRequest, _ file: URL) async throws {
  let spans = SpanRecorder(to: .collector("http://127.0.0.1:4318"), service: "shop-app")
  await shop.update { $0.observers.append(spans) }
  _ = try await GetWidget(id: 7).send()
  await spans.flush()

  try await TraceContext.$current.withValue(TraceContext(incoming.headers)) {
    _ = try await GetWidget(id: 7).send()
  }

  let some = SpanRecorder(to: .file(file), sampling: .share(0.1))
  await shop.update { $0.observers.append(some) }
}

func flush(_ spans: SpanRecorder) async {
  await withTaskGroup { group in
    group.addTask { await spans.flush() }
    group.addTask { try? await Task.sleep(for: .seconds(2)) }
    await group.next()
    group.cancelAll()
  }
}

func numbers(_ shop: Server) {
  for widget in shop.manager.statistics.sorted(by: .bytes) { print(widget) }
}
