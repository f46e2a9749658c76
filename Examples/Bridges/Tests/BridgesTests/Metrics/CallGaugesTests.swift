import Errand
import ErrandMetrics
import ErrandTesting
import Foundation
import Metrics
import MetricsTestKit
import Testing

struct CallGaugesTests {
  private let backend = TestMetrics()
  private let clock = ManualClock()

  private func connections(_ state: String) throws -> Double? {
    try backend.expectMeter(
      "http.client.open_connections", [("errand.server", "shop"), ("http.connection.state", state)]
    ).lastValue
  }

  private func requests() throws -> Double? {
    try backend.expectMeter("http.client.active_requests", [("errand.server", "shop")]).lastValue
  }

  @Test func `reports the server's calls and connections by state with every reading`() async throws {
    let mock = try MockServer()
    mock.enqueue(.hang)
    let shop = Server(Remote(mock.url), manager: TaskManager(clock: CallClock(clock)))
    let metrics = CallMetrics(factory: backend)
    let watch = Task { [readings = shop.gauges(every: .seconds(5))] in await metrics.watch(readings, of: "shop") }
    await clock.sleepers(count: 1)  // the first reading has been reported
    #expect(try requests() == 0)
    #expect(try connections("active") == 0)
    #expect(try connections("idle") == 0)

    let call = Task { try await GetWidget(id: 7).on(shop).download() }
    _ = try await mock.nextRequest()
    clock.advance(by: .seconds(5))
    await clock.sleepers(count: 1)
    #expect(try requests() == 1)
    #expect(try connections("active") == 1)
    #expect(try connections("idle") == 0)

    call.cancel()
    _ = try? await call.value
    try await mock.waitForOpenConnections(0)
    mock.enqueue(.json(#"{"id": 7}"#))
    _ = try await GetWidget(id: 7).on(shop).download()
    clock.advance(by: .seconds(5))
    await clock.sleepers(count: 1)
    #expect(try requests() == 0)
    #expect(try connections("active") == 0)
    #expect(try connections("idle") == 1)

    watch.cancel()
    await watch.value
    #expect(throws: TestMetricsError.self, "the meters have been destroyed") { try requests() }
    #expect(backend.meters.isEmpty)
  }

  @Test func `does not retain the watched server and returns when it is released`() async throws {
    let metrics = CallMetrics(factory: backend)
    weak var released: Server?
    let watch: Task<Void, Never>
    do {
      let shop = Server(
        "https://shop.test", transport: StubTransport { .status(.ok, for: $0) },
        manager: TaskManager(clock: CallClock(clock)))
      // A process's first server is its default server, which is not released.
      Server.default = Server("https://other.test")
      released = shop
      watch = Task { [readings = shop.gauges(every: .seconds(5))] in await metrics.watch(readings, of: "shop") }
      await clock.sleepers(count: 1)
    }
    try #require(released == nil)
    clock.advance(by: .seconds(5))
    await watch.value
  }
}
