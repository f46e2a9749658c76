import Errand
import ErrandLogging
import ErrandTesting
import Foundation
import Logging
import Testing

struct CallLoggerTests {
  @Test func `logs a call as one line at its end with its status and duration in seconds`() async throws {
    let shop = try await LoggedShop()
    shop.mock.route(.get, "/widgets/:id") { [clock = shop.clock] _ in
      clock.advance(by: .milliseconds(250))
      return .json(#"{"id": 7}"#)
    }
    _ = try await GetWidget(id: 7).on(shop.server).download()
    #expect(
      shop.lines == [
        .init(
          level: .info, message: "call succeeded with 200 OK",
          metadata: [
            "task": "GetWidget", "call": shop.call, "outcome": "succeeded", "status": "200", "attempts": "1",
            "duration": "0.25",
          ])
      ])
  }

  @Test func `logs successful calls at the chosen level`() async throws {
    let shop = try await LoggedShop(level: .trace)
    shop.mock.enqueue(.json(#"{"id": 7}"#))
    _ = try await GetWidget(id: 7).on(shop.server).download()
    #expect(shop.lines.map(\.level) == [.trace])
  }

  @Test func `logs a retry as its own line at debug level with its delay in seconds`() async throws {
    let shop = try await LoggedShop()
    shop.mock.enqueue(.status(503))
    shop.mock.enqueue(.json(#"{"id": 7}"#))
    let task = GetWidget(id: 7).on(shop.server).retry(upTo: 1, after: .milliseconds(1500))
    async let widget = task.download()
    await shop.clock.sleepers(count: 1)
    shop.clock.advance(by: .milliseconds(1500))
    _ = try await widget
    #expect(
      shop.lines == [
        .init(
          level: .debug, message: "waiting 1.500 s to retry: 503 Service Unavailable",
          metadata: ["task": "GetWidget", "call": shop.call, "delay": "1.5"]),
        .init(
          level: .info, message: "call succeeded with 200 OK",
          metadata: [
            "task": "GetWidget", "call": shop.call, "outcome": "succeeded", "status": "200", "attempts": "2",
            "duration": "1.5",
          ]),
      ])
  }

  @Test func `logs why there is no retry, and a failure as a warning with its error type`() async throws {
    let shop = try await LoggedShop()
    shop.mock.enqueue(.status(503))
    await #expect(throws: TaskError.self) {
      try await URLTask(shop.mock.url, method: .post).on(shop.server).retry(upTo: 1, after: .zero).run()
    }
    let lines = shop.lines
    #expect(lines.map(\.level) == [.debug, .warning])
    #expect(lines.first?.message.hasPrefix("not retried: POST is not idempotent") == true)
    #expect(lines.last?.message.hasPrefix("call failed: ") == true)
    #expect(
      lines.last?.metadata == [
        "task": "URLTask", "call": shop.call, "outcome": "failed", "status": "503", "attempts": "1", "duration": "0.0",
        "error.type": "badStatus",
      ])
  }

  @Test func `logs a cancelled call at debug level`() async throws {
    let shop = try await LoggedShop()
    shop.mock.enqueue(.hang)
    let call = Task { [server = shop.server] in try await GetWidget(id: 7).on(server).download() }
    _ = try await shop.mock.nextRequest()
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    #expect(
      shop.lines == [
        .init(
          level: .debug, message: "call cancelled",
          metadata: [
            "task": "GetWidget", "call": shop.call, "outcome": "cancelled", "attempts": "1", "duration": "0.0",
            "error.type": "cancelled",
          ])
      ])
  }

  @Test func `logs a line for each call that shares a request, and none for the request`() async throws {
    let shop = try await LoggedShop()
    let joins = JoinWatch()
    await shop.server.update {
      $0.coalescesRequests = true
      $0.retryPolicy = .never
      $0.observers.append(joins)
    }
    shop.mock.enqueue(.hang)
    let calls = (0..<3).map { _ in
      Task { [server = shop.server] in try await GetWidget(id: 7).on(server).download() }
    }
    await joins.wait(for: 3)
    _ = try await shop.mock.nextRequest()
    shop.mock.stop()
    for call in calls { await #expect(throws: TaskError.self) { try await call.value } }
    await shop.events.balanced()
    #expect(shop.lines.map(\.level) == [.warning, .warning, .warning])
    #expect(Set(shop.lines.compactMap { $0.metadata["call"] }).count == 3)
  }

  @Test func `a call within a trace logs the trace and span IDs`() async throws {
    let shop = try await LoggedShop()
    shop.mock.enqueue(.json(#"{"id": 7}"#))
    let trace = TraceContext(traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    try await TraceContext.$current.withValue(trace) { _ = try await GetWidget(id: 7).on(shop.server).download() }
    let span = try #require(shop.events.events.last?.span)
    #expect(shop.lines.first?.metadata["trace_id"] == "0af7651916cd43dd8448eb211c80319c")
    #expect(shop.lines.first?.metadata["span_id"] == "\(span.context.spanID)")
  }

  /// A transport error and another error, each with a secret, line breaks and an escape sequence.
  private static let errors: [any Error] = [
    TaskError(TaskError.Code("odd"), words, phase: .receiving), OddError(description: words),
  ]
  private static let words = "https://shop.test/a?token=\(SecretTask.secret) 1\n2\u{1B}[31m\u{2028}3"

  private struct OddError: Error, CustomStringConvertible {
    let description: String
  }

  @Test(arguments: errors.indices)
  func `error messages are logged without secrets, line breaks and escape sequences`(_ index: Int) async throws {
    let shop = try await LoggedShop()
    let logger = CallLogger(shop.logger)
    let server = Server("https://shop.test", transport: StubTransport { _ in throw Self.errors[index] })
    await server.update { $0.observers = [InlineObserver(logger)] }
    let policy = RetryPolicy.decided { $0.attempts.count < 2 ? .retry(after: .zero) : .giveUp }
    await #expect(throws: (any Error).self) { try await GetWidget(id: 7).on(server).retry(policy).download() }
    let messages = shop.lines.map(\.message)
    #expect(messages.last?.contains("https://shop.test/a?token=<redacted> 1 2 [31m 3") == true)
    let delay = "waiting 0.000 s to retry: https://shop.test/a?token=<redacted> 1 2 [31m 3"
    #expect(index > 0 || messages.first == delay, "\(messages)")
    #expect(!"\(shop.lines)".contains(SecretTask.secret))
  }

  @Test func `logs no secrets from URLs and headers`() async throws {
    let shop = try await LoggedShop()
    shop.mock.enqueue(.status(503))
    shop.mock.route("/secrets") { .status(302, headers: ["Location": $0.target]) }  // a loop, whose URL is in the error
    let error = await #expect(throws: TaskError.self) {
      try await SecretTask().on(shop.server).retry(upTo: 1, after: .zero).run()
    }
    #expect(error?.code == .tooManyRedirects)
    let request = try await shop.mock.nextRequest()
    #expect(request.target.contains(SecretTask.secret))
    #expect(request.headers[.authorization]?.contains(SecretTask.secret) == true)
    let text = "\(shop.lines)"
    #expect(text.contains("/secrets?token="), "the failure's description contains the URL")
    #expect(!text.contains(SecretTask.secret))
  }
}
