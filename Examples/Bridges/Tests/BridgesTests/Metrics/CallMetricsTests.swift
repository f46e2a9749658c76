import Errand
import ErrandMetrics
import ErrandTesting
import Metrics
import MetricsTestKit
import Testing

struct CallMetricsTests {
  private let backend = TestMetrics()
  private let clock = ManualClock()

  private func shop(at mock: MockServer) async -> Server {
    let shop = Server(Remote(mock.url), manager: TaskManager(clock: CallClock(clock)))
    await shop.update { [backend] in $0.observers = [CallMetrics(factory: backend)] }
    return shop
  }

  private func durations(
    _ task: String = "GetWidget", status: String = "", error: String = ""
  ) throws -> [Int64] {
    try backend.expectTimer(
      "http.client.request.duration",
      [("errand.task", task), ("http.response.status_code", status), ("error.type", error)]
    ).values
  }

  @Test func `measures a request by task and status, in seconds`() async throws {
    let mock = try MockServer()
    mock.route(.get, "/widgets/:id") { [clock] _ in
      clock.advance(by: .milliseconds(250))
      return .json(#"{"id": 7}"#)
    }
    _ = try await GetWidget(id: 7).on(shop(at: mock)).download()
    #expect(try durations(status: "200") == [250_000_000])
    #expect(backend.timers.map(\.displayUnit) == [.seconds])
    #expect(backend.timers.count == 1)
    #expect(backend.counters.isEmpty, "no call was retried or failed")
  }

  @Test func `is an inline observer, so that no number is lost`() {
    #expect(CallMetrics(factory: backend).delivery == .inline)
  }

  @Test func `measures every attempt of a retried request and counts the retry`() async throws {
    let mock = try MockServer()
    mock.enqueue(.status(503))
    mock.enqueue(.json(#"{"id": 7}"#))
    _ = try await GetWidget(id: 7).on(shop(at: mock)).retry(upTo: 1, after: .zero).download()
    #expect(try durations(status: "503", error: "503") == [0])
    #expect(try durations(status: "200") == [0])
    #expect(try backend.expectCounter("errand.client.retries", [("errand.task", "GetWidget")]).values == [1])
    #expect(backend.counters.count == 1, "the call did not fail")
  }

  @Test func `counts a failed call by its error type`() async throws {
    let mock = try MockServer()
    mock.enqueue(.drop)
    let task = await GetWidget(id: 7).on(shop(at: mock)).retry(.never)
    let error = await #expect(throws: TaskError.self) { try await task.download() }
    #expect(error?.code == .connectionLost)
    #expect(try durations(error: "connectionLost") == [0])
    let failures = try backend.expectCounter(
      "errand.client.failures", [("errand.task", "GetWidget"), ("error.type", "connectionLost")])
    #expect(failures.values == [1])
    #expect(backend.counters.count == 1)
  }

  @Test func `measures a shared request once and counts a failure for each call`() async throws {
    let mock = try MockServer()
    mock.enqueue(.hang)
    let (shop, events, joins) = (await shop(at: mock), EventRecorder(), JoinWatch())
    await shop.update {
      $0.coalescesRequests = true
      $0.retryPolicy = .never
      $0.observers += [events, joins]
    }
    let calls = (0..<3).map { _ in Task { try await GetWidget(id: 7).on(shop).download() } }
    await joins.wait(for: 3)
    _ = try await mock.nextRequest()
    mock.stop()
    for call in calls { await #expect(throws: TaskError.self) { try await call.value } }
    await events.balanced()
    #expect(try durations(error: "connectionLost") == [0])
    let failures = try backend.expectCounter(
      "errand.client.failures", [("errand.task", "GetWidget"), ("error.type", "connectionLost")])
    #expect(failures.values == [1, 1, 1])
    #expect(backend.counters.count == 1)
  }

  @Test func `a cancelled call has a duration but is not a failure`() async throws {
    let mock = try MockServer()
    mock.enqueue(.hang)
    let shop = await shop(at: mock)
    let call = Task { try await GetWidget(id: 7).on(shop).download() }
    _ = try await mock.nextRequest()
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    #expect(try durations(error: "cancelled") == [0])
    #expect(backend.counters.isEmpty)
  }

  @Test func `every metric has constant dimensions without secrets or URLs`() async throws {
    let mock = try MockServer()
    mock.enqueue(.status(503))
    mock.enqueue(.status(400))
    let task = await SecretTask().on(shop(at: mock)).retry(upTo: 1, after: .zero)
    await #expect(throws: TaskError.self) { try await task.run() }
    let timers = backend.timers(label: "http.client.request.duration")
    #expect(timers.count == 2)
    #expect(
      Set(timers.map { $0.dimensions.map(\.0) }) == [["errand.task", "http.response.status_code", "error.type"]])
    let text = backend.description
    #expect(text.contains("SecretTask"))
    #expect(!text.contains(SecretTask.secret) && !text.contains("/secrets") && !text.contains("127.0.0.1"))
  }
}
