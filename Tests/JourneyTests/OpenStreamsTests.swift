import Errand
import ErrandTesting
import Foundation
import Testing

/// Streamed bodies hold no slot.
@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct OpenStreamsTests {
  private static let endless = MockAnswer.endless(chunk: Data(count: 1000))

  @Test func `open streams do not block other calls and are counted separately`() async throws {
    let shop = try Shop(limits: ThrottleLimits(perHost: 2, total: 3))
    shop.mock.route("/plain", answer: Self.endless)
    var streams: [HTTPResponse] = []
    for _ in 0..<10 { streams.append(try await PlainTask().on(shop.server).stream()) }
    #expect(try await GetWidget().on(shop.server).download() == Widget())
    let throttle = shop.server.manager.throttle
    #expect(throttle.running == 0 && throttle.streams == 10)
    #expect(throttle.hosts.values.map(\.streams) == [10])
    let gauges = await shop.server.gauges()
    #expect(gauges.streams == 10 && gauges.hosts.values.map(\.streams) == [10])
    for stream in streams { stream.body.cancel() }
    #expect(shop.server.manager.throttle.streams == 0 && shop.server.manager.throttle.hosts.isEmpty)
    try await shop.mock.waitForOpenConnections(1)  // the widget's connection stays open
  }

  @Test func `counts a stream from its request, even if the stream is cancelled before its head`() async throws {
    let shop = try Shop()
    shop.mock.route("/plain", answer: .hang)
    let stream = Task { try await PlainTask().on(shop.server).stream() }
    try await shop.mock.waitForOpenConnections(1)
    let throttle = shop.server.manager.throttle
    #expect(throttle.running == 1 && throttle.streams == 1)
    #expect(throttle.hosts.values.map(\.streams) == [1])
    stream.cancel()
    await #expect(throws: CancellationError.self) { try await stream.value }
    #expect(await eventually { shop.server.manager.throttle.hosts.isEmpty })
    #expect(shop.server.manager.throttle.streams == 0)
  }

  @Test func `a stream limit delays other streams but not ordinary calls`() async throws {
    let shop = try Shop(limits: ThrottleLimits(streamsPerHost: 1))
    shop.mock.route("/plain", answer: Self.endless)
    let first = try await PlainTask().on(shop.server).stream()
    let second = Task { try await PlainTask().on(shop.server).stream() }
    #expect(await eventually { shop.server.manager.waitingCount == 1 })
    #expect(try await GetWidget().on(shop.server).download() == Widget())
    #expect(shop.server.manager.throttle.streams == 1)
    first.body.cancel()
    let response = try await second.value
    #expect(shop.server.manager.throttle.streams == 1 && shop.server.manager.waitingCount == 0)
    response.body.cancel()
    #expect(await eventually { shop.isQuiet })
  }

  private struct Looking: PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse { try await next(request) }
  }

  @Test func `counts a streamed response with a bad status as a stream, even with steps`() async throws {
    let shop = try Shop(limits: ThrottleLimits(streamsPerHost: 1)) {
      $0.perAttemptSteps = [Looking()]
      $0.reportBadHTTPStatusAsError = false
      $0.retryPolicy = .never
    }
    shop.mock.route("/plain", answer: .data(Data(count: 1000), status: 500).bodyAfter(.seconds(86_400)))
    let first = try await PlainTask().on(shop.server).stream()
    #expect(first.status == 500 && shop.server.manager.throttle.streams == 1)
    let second = Task { try await PlainTask().on(shop.server).stream() }
    #expect(await eventually { shop.server.manager.waitingCount == 1 })
    first.body.cancel()
    let response = try await second.value
    #expect(shop.server.manager.throttle.streams == 1)
    response.body.cancel()
    #expect(await eventually { shop.isQuiet })
  }

  @Test func `an increased stream limit takes effect immediately`() async throws {
    let shop = try Shop(limits: ThrottleLimits(streamsPerHost: 1))
    shop.mock.route("/plain", answer: Self.endless)
    let first = try await PlainTask().on(shop.server).stream()
    let second = Task { try await PlainTask().on(shop.server).timeouts(Timeouts(queue: .seconds(30))).stream() }
    #expect(await eventually { shop.server.manager.waitingCount == 1 })
    await shop.server.manager.setLimits(ThrottleLimits(streamsPerHost: 2))
    let response = try await second.value
    #expect(shop.server.manager.throttle.streams == 2)
    for body in [first.body, response.body] { body.cancel() }
    #expect(await eventually { shop.isQuiet })
  }

  @Test func `a wait for a stream permit can be cancelled or time out`() async throws {
    let shop = try Shop(limits: ThrottleLimits(streamsPerHost: 1))
    shop.mock.route("/plain", answer: Self.endless)
    let first = try await PlainTask().on(shop.server).stream()
    let task = PlainTask().on(shop.server).timeouts(Timeouts(queue: .milliseconds(50)))
    let error = await #expect(throws: TaskError.self) { try await task.stream() }
    #expect(error?.timer == .queue)
    let second = Task { try await PlainTask().on(shop.server).stream() }
    #expect(await eventually { shop.server.manager.waitingCount == 1 })
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    first.body.cancel()
    #expect(await eventually { shop.isQuiet })
  }

  @Test func `an error while reading a stream contains the method, URL, record and timings of the call`() async throws {
    let shop = try Shop()
    shop.mock.enqueue(.truncated(body: Data(count: 1000), after: 400))
    let response = try await PlainTask().on(shop.server).stream()
    let error = try #require(await #expect(throws: TaskError.self) { try await response.body.collect() })
    #expect(error.code == .truncatedBody && error.method == .get)
    #expect(error.url == shop.url("plain").absoluteString)
    #expect(error.record.title == "GET \(shop.url("plain").absoluteString)")
    #expect(error.attempts.count == 1 && error.attempts.first?.failure != nil && error.elapsed > .zero)
    #expect(try #require(error.attempts.first?.timings).remotePort == shop.mock.url.port)
  }

  @Test func `a stream has timings and a record after it has been read`() async throws {
    let shop = try Shop()
    shop.mock.enqueue(.text("0123456789"))
    let response = try await PlainTask().on(shop.server).stream()
    #expect(try await response.body.collect().count == 10)
    #expect(response.record.title == "GET \(shop.url("plain").absoluteString)")
    let timings = try #require(response.record.attempts.first?.timings)
    #expect(timings.firstByte > .zero && timings.bytesReceived > 10)
    #expect(try await PlainTask().on(shop.server).accepting(.all).run().record.attempts.map(\.status) == [404])
  }

  @Test func `the error of a failed call contains the timings of its attempt`() async throws {
    let shop = try Shop()
    shop.mock.enqueue(.drop)
    shop.mock.enqueue(.hang)
    let task = PlainTask().on(shop.server).retry(.never).idempotency(.neverRepeat)
    for task in [task, task.timeouts(Timeouts(firstByte: .milliseconds(50)))] {
      let error = try #require(await #expect(throws: TaskError.self) { try await task.run() })
      #expect(try #require(error.attempts.first?.timings).remotePort == shop.mock.url.port, "\(error)")
    }
  }

  @Test func `keeps the machine awake until the stream ends`() async throws {
    let log = Shared<[String]>([])
    let shop = try Shop {
      $0.backgroundActivity = { _ in
        log.withLock { $0.append("awake") }
        return { log.withLock { $0.append("asleep") } }
      }
    }
    shop.mock.enqueue(.text("0123456789"))
    let response = try await PlainTask().on(shop.server).stream()
    #expect(log.withLock { $0 } == ["awake"])
    _ = try await response.body.collect()
    #expect(await eventually { log.withLock { $0.count == 2 } })
    _ = try await GetWidget().on(shop.server).download()
    #expect(log.withLock { $0 } == ["awake", "asleep", "awake", "asleep"])
  }
}
