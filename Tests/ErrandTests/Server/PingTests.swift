import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct PingTests {
  @Test func `a ping sends a HEAD with the server's headers to the remote and accepts any status`() async throws {
    for status in [HTTPStatus.ok, 404, 503] {
      let stub = StubServer(.status(status), remote: "https://shop.test/api") {
        $0.standardHeaders = ["X-Shop": "1"]
        $0.preflight = { _, request in request.headers["X-Preflight"] = "1" }
      }
      #expect(try await stub.server.ping() >= .zero)
      let request = try #require(stub.requests.first)
      #expect(stub.requests.count == 1 && request.method == .head)
      #expect(request.url.absoluteString == "https://shop.test/api")
      #expect(request.headers["X-Shop"] == "1" && request.headers["X-Preflight"] == "1")
    }
  }

  @Test func `the ping's duration excludes the wait for a slot`() async throws {
    let clock = ManualClock()
    let asked = Counter()
    let transport = StubTransport { request in
      asked.add()
      try await clock.sleep(until: clock.now.advanced(by: .seconds(3)), tolerance: nil)
      return .status(.ok, for: request)
    }
    let manager = TaskManager(limits: ThrottleLimits(perHost: 1), clock: CallClock(clock))
    let server = Server("https://shop.test", transport: transport, manager: manager, environment: [:])
    let first = Task { try await PlainTask().on(server).run() }
    await asked.reached(1)
    let ping = Task { try await server.ping() }
    #expect(await eventually { manager.waitingCount >= 1 })
    await clock.sleepers(count: 1)
    clock.advance(by: .seconds(3))
    _ = try await first.value
    await asked.reached(2)
    await clock.sleepers(count: 1)
    clock.advance(by: .seconds(3))
    #expect(try await ping.value == .seconds(3))
  }

  @Test func `a ping is not retried, and a ping on a disabled server sends no request`() async throws {
    let stub = StubServer(.refused)
    let error = await #expect(throws: TaskError.self) { try await stub.server.ping() }
    #expect(error?.code == .cannotConnect && stub.requests.count == 1)
    await stub.server.update { $0.disabled = true }
    let refusal = await #expect(throws: TaskError.self) { try await stub.server.ping() }
    #expect(refusal?.code == .disabled && stub.requests.count == 1)
  }

  @Test func `head sends the task's request without its body`() async throws {
    let stub = StubServer(.status(200, ["ETag": "\"7\""]))
    let response = try await AddWidget().on(stub.server).query("a", "b").header("X-Mine", "1").head()
    #expect(response.status == .ok && response.headers["ETag"] == "\"7\"")
    let request = try #require(stub.requests.first)
    #expect(request.method == .head && request.body.isEmpty && !request.headers.contains(.contentType))
    #expect(request.url.absoluteString == "https://shop.test/widgets?a=b" && request.headers["X-Mine"] == "1")
  }

  @Test func `head fails like the task itself for bad statuses and disabled servers`() async throws {
    let stub = StubServer(.status(404))
    let error = await #expect(throws: TaskError.self) { try await GetWidget().on(stub.server).head() }
    #expect(error?.status == 404)
    await stub.server.update { $0.disabled = true }
    let refusal = await #expect(throws: TaskError.self) { try await GetWidget().on(stub.server).head() }
    #expect(refusal?.code == .disabled && stub.requests.count == 1)
  }
}
