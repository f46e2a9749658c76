import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct RetryTests {
  @Test(arguments: [HTTPStatus(408), 429, 502, 503, 504])
  func `retries a transient status`(status: HTTPStatus) async throws {
    let stub = StubServer(.status(status), .widget)
    let response = try await GetWidget().on(stub.server).response()
    #expect(response.payload == Widget())
    #expect(response.attempts.map(\.status) == [status, 200])
    #expect(response.metrics.attemptCount == 2)
  }

  @Test(arguments: [HTTPStatus(400), 401, 404, 409, 500, 501])
  func `does not retry a permanent status`(status: HTTPStatus) async throws {
    let stub = StubServer(.status(status))
    let error = await #expect(throws: TaskError.self) { try await GetWidget().on(stub.server).run() }
    #expect(error?.status == status)
    #expect(stub.requests.count == 1)
  }

  @Test func `the record that observers receive omits a hidden URL`()
    async throws
  {
    struct Hidden: ServerGETTask {
      var path: String { "hidden" }
      var recordingStyle: RecordingStyle { .full.subtracting(.url) }
    }
    let recorder = EventRecorder()
    let stub = StubServer(.status(404)) { $0.observers = [recorder] }
    let error = await taskError { try await PlainTask().on(stub.server).query(["token": "hunter2"]).run() }
    _ = await taskError { try await Hidden().on(stub.server).run() }
    await recorder.balanced()
    let records = recorder.events.compactMap(\.record)
    #expect(records.count == 2 && recorder.events.filter { $0.record != nil }.allSatisfy { !$0.isInternal })
    #expect(records.first?.title == "GET https://shop.test/plain?token=<redacted>")
    #expect(records.first?.description == error?.record.description)
    #expect(records.last?.title == "" && records.last?.description.contains("hidden\n") == false)
  }

  @Test func `logs the reason for a retry delay on one line with secrets redacted`() async throws {
    let (recorder, lines) = (EventRecorder(), Shared<[String]>([]))
    let failure = TaskError(
      TaskError.Code("odd"), "lost https://shop.test/?token=hunter2\nand more", phase: .sending, wasNotSent: true)
    let stub = StubServer(.failure(failure), .status(.ok)) { configuration in
      configuration.observers = [recorder]
      configuration.logStyle = .steps
      configuration.log = LogOutput { line in lines.withLock { $0.append(line) } }
    }
    let policy = RetryPolicy.decided(by: { _ in .retry(after: .seconds(1)) })
    let response = try await PlainTask().on(stub.server).retry(policy).run()
    await recorder.balanced()
    let reported = recorder.moments().map { "\($0)" }
    #expect(
      reported.contains("waiting 1.000 s to retry: lost https://shop.test/?token=<redacted> and more"), "\(reported)")
    for text in reported + lines.withLock({ $0 }) + [response.record.description] { #expect(!text.contains("hunter2")) }
  }

  @Test func `the statuses of a policy replace the default statuses`() async throws {
    var policy = RetryPolicy.attempts(2)
    policy.statuses = [.notFound]
    for (status, count) in [(HTTPStatus.notFound, 2), (.serviceUnavailable, 1)] {
      let stub = StubServer(.status(status))
      _ = try? await GetWidget().on(stub.server).retry(policy).run()
      #expect(stub.requests.count == count, "\(status)")
    }
  }

  @Test func `throws the last attempt's error, which lists all earlier attempts`() async throws {
    let stub = StubServer(.status(503), .lost, .status(504))
    let error = await #expect(throws: TaskError.self) { try await GetWidget().on(stub.server).run() }
    #expect(error?.status == 504)
    #expect(error?.attempts.map(\.outcome) == ["503 Service Unavailable", "lost", "504 Gateway Timeout"])
    #expect(error?.description.contains("after 3 attempts") == true)
    let last = try #require(error?.record.entries.last)
    #expect("\(last.moment)".hasPrefix("call failed: 504 Gateway Timeout"), "\(last)")
  }

  @Test func `the error says why the call was not retried`() async throws {
    let stub = StubServer(.status(503))
    let post = try #require(await taskError { try await AddWidget().on(stub.server).retry(.attempts(6)).run() })
    #expect(post.description.contains("gave up after 1 of 6 attempts"), "\(post)")
    #expect(post.description.contains("POST is not idempotent"), "\(post)")
    #expect(post.record.description.contains("POST is not idempotent"))
    let body = HTTPBody.once(AsyncStream<Data> { $0.finish() })
    let upload = URLTask(.known("https://shop.test/x"), method: .put, body: body).on(stub.server)
    let once = try #require(await taskError { try await upload.run() })
    #expect(
      once.description.contains("gave up after 1 of 3 attempts: the request body can only be read once"), "\(once)")
    // A 404 is never retried, so the error does not explain the missing retry.
    let missing = StubServer(.status(404))
    let plain = try #require(await taskError { try await AddWidget().on(missing.server).run() })
    #expect(!plain.description.contains("gave up"), "\(plain)")
  }

  @Test func `retries only idempotent requests if they may have reached the server`() async throws {
    for (idempotency, count) in [(Idempotency.automatic, 1), (.safeToRepeat, 2), (.key, 2), (.neverRepeat, 1)] {
      let stub = StubServer(.lost, .widget)
      _ = try? await AddWidget().on(stub.server).idempotency(idempotency).run()
      #expect(stub.requests.count == count, "\(idempotency)")
    }
    let stub = StubServer(.lost, .widget)
    _ = try? await GetWidget().on(stub.server).idempotency(.neverRepeat).run()
    #expect(stub.requests.count == 1)
  }

  @Test func `retries a request that was not sent, regardless of its method`() async throws {
    let stub = StubServer(.refused, .widget)
    try await AddWidget().on(stub.server).idempotency(.neverRepeat).run()
    #expect(stub.requests.count == 2)
  }

  @Test func `does not retry a one-shot body`() async throws {
    let stub = StubServer(.status(503), .widget)
    let body = HTTPBody.once(AsyncStream { $0.finish() })
    await #expect(throws: TaskError.self) {
      try await URLTask(.known("https://shop.test/x"), method: .put, body: body).on(stub.server).run()
    }
    #expect(stub.requests.count == 1)
  }

  @Test func `does not retry an accepted status`() async throws {
    let stub = StubServer(.status(503))
    let response = try await GetWidget().on(stub.server).accepting(.only(503)).run()
    #expect(response.status == 503)
    #expect(stub.requests.count == 1)
  }

  @Test func `doubles the retry delay after each attempt, with full jitter`() async throws {
    var policy = RetryPolicy.attempts(6)
    let stub = StubServer(.status(503))
    let recorder = EventRecorder()
    await stub.server.update { $0.observers = [recorder] }
    policy.hasJitter = false
    _ = try? await GetWidget().on(stub.server).retry(policy).run()
    #expect(recorder.delays == [.milliseconds(500), .seconds(1), .seconds(2), .seconds(4), .seconds(8)])
    policy.hasJitter = true
    _ = try? await GetWidget().on(stub.server).retry(policy).run()
    let jittered = recorder.delays.dropFirst(5)
    #expect(jittered.count == 5 && Set(jittered).count == 5)
    #expect(zip(jittered, recorder.delays).allSatisfy { $0 < $1 && $0 >= .zero })
    // Full jitter starts at zero, so many runs produce delays in every quarter of the range.
    let many = StubServer(.status(503))
    await many.server.update { $0.observers = [recorder] }
    let single = RetryPolicy.attempts(2)
    let before = recorder.delays.count
    for _ in 0..<40 { _ = try? await GetWidget().on(many.server).retry(single).run() }
    let quarters = recorder.delays.dropFirst(before).map { Int($0 / .milliseconds(125)) }
    #expect(Set(quarters) == [0, 1, 2, 3])
  }

  @Test func `caps delays separately for requests with and without a body`() async throws {
    var policy = RetryPolicy.attempts(4)
    policy.hasJitter = false
    policy.maximumDownloadDelay = .milliseconds(700)
    policy.maximumUploadDelay = .milliseconds(900)
    let stub = StubServer(.status(503))
    let recorder = EventRecorder()
    await stub.server.update { $0.observers = [recorder] }
    _ = try? await GetWidget().on(stub.server).retry(policy).run()
    #expect(recorder.delays == [.milliseconds(500), .milliseconds(700), .milliseconds(700)])
    _ = try? await AddWidget().on(stub.server).idempotency(.safeToRepeat).retry(policy).run()
    #expect(recorder.delays.last == .milliseconds(900))
  }

  @Test func `does not apply jitter to fixed delays or to delays from Retry-After`() async throws {
    let stub = StubServer(.status(503), .status(503, [.retryAfter: "80"]), .widget)
    let recorder = EventRecorder()
    await stub.server.update { $0.observers = [recorder] }
    try await GetWidget().on(stub.server).retry(upTo: 2, after: .seconds(90)).run()
    #expect(recorder.delays == [.seconds(90), .seconds(90)], "the one-minute cap applies only to other policies")
  }

  @Test func `a longer Retry-After overrides the policy's delay`() async throws {
    let stub = StubServer(
      .status(503, [.retryAfter: "45"]), .status(429, [.retryAfter: "0"]), .status(503, [.retryAfter: "2"]), .widget)
    let recorder = EventRecorder()
    await stub.server.update { $0.observers = [recorder] }
    try await GetWidget().on(stub.server).retry(upTo: 3, after: .seconds(3)).run()
    #expect(recorder.delays == [.seconds(45), .seconds(3), .seconds(3)])
    // The clock shows that the call actually waited.
    #expect(stub.clock.now.offset == .seconds(51) && stub.requests.count == 4)
  }

  @Test(arguments: [("61", HTTPMethod.get, "60"), ("86400", .get, "60"), ("601", .put, "600")])
  func `a Retry-After above the cap fails the call with an error that contains the value`(
    value: String, method: HTTPMethod, cap: String
  ) async throws {
    let stub = StubServer(.status(503, [.retryAfter: value]), .widget)
    let body = method == .put ? HTTPBody.text("x") : .empty
    let task = URLTask(.known("https://shop.test/x"), method: method, body: body).on(stub.server)
    let error = try #require(await taskError { try await task.run() })
    #expect(error.status == 503 && error.elapsed == .zero && stub.requests.count == 1)
    #expect(error.headers[.retryAfter] == value)
    #expect(error.description.contains("gave up after 1 of 3 attempts"), "\(error)")
    #expect(error.description.contains("Retry-After is \(value).000 s"), "\(error)")
    #expect(error.description.contains("waits at most \(cap).000 s"), "\(error)")
    #expect(error.record.description.contains("Retry-After is \(value).000 s"))
  }

  @Test func `waits for a Retry-After up to the cap`() async throws {
    let stub = StubServer(.status(503, [.retryAfter: "60"]), .widget)
    try await GetWidget().on(stub.server).run()
    #expect(stub.clock.now.offset == .seconds(60))
    let upload = StubServer(.status(503, [.retryAfter: "600"]), .widget)
    try await AddWidget().on(upload.server).idempotency(.safeToRepeat).run()
    #expect(upload.clock.now.offset == .seconds(600))
  }

  @Test func `does not retry beyond the deadline`() async throws {
    let stub = StubServer(.status(503, [.retryAfter: "3600"]), .widget, clock: .manual)
    let error = await #expect(throws: TaskError.self) {
      try await GetWidget().on(stub.server).deadline(.seconds(10)).run()
    }
    #expect(error?.status == 503, "the call ends immediately with the last error")
    #expect(stub.requests.count == 1)
  }

  @Test func `retries after a delay that ends before the deadline`() async throws {
    let stub = StubServer(.status(503), .widget, clock: .manual)
    let call = Task {
      try await GetWidget().on(stub.server).retry(upTo: 1, after: .seconds(5)).deadline(.seconds(6)).run()
    }
    await stub.clock.sleepers(count: 2)
    stub.clock.advance(by: .seconds(4))
    #expect(stub.requests.count == 1)
    stub.clock.advance(by: .seconds(1))
    #expect(try await call.value.status == 200)
    #expect(stub.requests.count == 2)
  }

  @Test func `the deadline ends a preflight that hangs`() async throws {
    let stub = StubServer(.widget, clock: .manual)
    await stub.server.update { $0.preflight = { _, _ in try await stub.clock.sleep(for: .seconds(1000)) } }
    let call = Task { try await GetWidget().on(stub.server).deadline(.seconds(6)).run() }
    await stub.clock.sleepers(count: 2)
    stub.clock.advance(by: .seconds(6))
    let error = await #expect(throws: TaskError.self) { try await call.value }
    #expect(error?.code == .timedOut && error?.timer == .call && error?.limit == .seconds(6))
    #expect(error?.isRetryable == false)
    #expect(stub.clock.sleeperCount == 0)
  }

  @Test func `cancelling a call immediately ends its retry delay`() async throws {
    let stub = StubServer(.status(503), clock: .manual)
    let recorder = EventRecorder()
    await stub.server.update { $0.observers = [recorder] }
    let call = Task { try await GetWidget().on(stub.server).run() }
    await stub.clock.sleepers(count: 1)
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    #expect(stub.clock.sleeperCount == 0)
    #expect(recorder.problems == [])
  }

  @Test func `a custom policy receives the earlier attempts, the error and the Retry-After delay`() async throws {
    let stub = StubServer(.status(503, [.retryAfter: "9", .setCookie: "a=s3cret"]), .widget)
    let policy = RetryPolicy.decided { failure in
      #expect(failure.error.headers[.setCookie] == Redaction.mark, "secrets are redacted, as in every error")
      #expect(failure.attempts.count == 1)
      #expect(failure.error.status == 503)
      #expect(failure.retryAfter == .seconds(9))
      #expect(failure.request.url.path == "/widgets/7")
      #expect((0..<1).contains(failure.random))
      return .retry(after: .seconds(1))
    }
    try await GetWidget().on(stub.server).retry(policy).run()
    #expect(stub.requests.count == 2)
  }

  @Test func `an error thrown by the policy ends the call`() async throws {
    struct Enough: Error {}
    let stub = StubServer(.status(503))
    await #expect(throws: Enough.self) {
      try await GetWidget().on(stub.server).retry(.decided { _ in throw Enough() }).run()
    }
  }

  @Test func `rebuilds the request for every attempt`() async throws {
    let stub = StubServer(.status(503), .status(503), .widget)
    let counter = Counter()
    await stub.server.update { configuration in
      configuration.preflight = { _, request in
        counter.add()
        request.headers["X-Token"] = "\(counter.count)"
      }
    }
    try await GetWidget().on(stub.server).run()
    #expect(stub.requests.map { $0.headers["X-Token"] } == ["1", "2", "3"])
  }

  @Test(arguments: [Duration.unlimited, .seconds(Int64.max / 2), .seconds(-1)])
  func `extreme base delays neither trap nor exceed the maximum`(base: Duration) async throws {
    var policy = RetryPolicy.attempts(5)
    (policy.baseDelay, policy.hasJitter) = (base, false)
    let stub = StubServer(.status(503))
    let recorder = EventRecorder()
    await stub.server.update { $0.observers = [recorder] }
    _ = try? await GetWidget().on(stub.server).retry(policy).run()
    #expect(recorder.delays == Array(repeating: base < .zero ? .zero : .seconds(60), count: 4))
  }

  @Test(arguments: [RetryPolicy.fixed(retries: .max, delay: .zero), .attempts(.min), .fixed(retries: -5, delay: .zero)])
  func `extreme attempt counts do not trap`(policy: RetryPolicy) async throws {
    let stub = StubServer(.status(503), .widget)
    let response = try? await GetWidget().on(stub.server).retry(policy).run()
    // The second request succeeds, so no policy makes a third attempt.
    #expect(stub.requests.count == (policy.maximumAttempts > 1 ? 2 : 1))
    #expect((response != nil) == (policy.maximumAttempts > 1))
    #expect(policy.maximumAttempts >= 1)
  }

  @Test func `caps the largest possible delay at the policy's maximum`() async throws {
    var policy = RetryPolicy.attempts(12)
    policy.baseDelay = .unlimited
    policy.maximumDownloadDelay = .seconds(2)
    policy.hasJitter = false
    let shop = VirtualShop(.autoAdvancing) { _, request, _ in .unavailable(request) }
    let error = await #expect(throws: TaskError.self) { try await shop.task().retry(policy).run() }
    #expect(error?.attempts.compactMap(\.delay) == Array(repeating: .seconds(2), count: 11))
  }

  /// Discards the body of a rejected response.
  private struct Leaving: PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      if !response.status.isAccepted { response.body.cancel() }
      return response
    }
  }

  @Test(arguments: [true, false])
  func `a stream that accepts all statuses is retried according to its policy`(isLeft: Bool) async throws {
    let stub = StubServer(.status(503)) { if isLeft { $0.perAttemptSteps = [Leaving()] } }
    let asked = Shared<[Int]>([])
    let policy = RetryPolicy.decided { failure in
      asked.withLock { $0.append(failure.attempts.count) }
      return failure.attempts.count < 3 ? .retry(after: .zero) : .giveUp
    }
    let response = try await PlainTask().on(stub.server).accepting(.any).retry(policy).stream()
    response.body.cancel()
    #expect(response.status == 503 && stub.requests.count == 3 && asked.withLock { $0 } == [1, 2, 3])
  }
}

extension EventRecorder {
  /// The delays, in order.
  fileprivate var delays: [Duration] {
    events.compactMap { if case .delayStarted(let delay, _) = $0.moment { delay } else { nil } }
  }
}
