import Errand
import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct RetryAfterTests {
  /// Sun, 06 Nov 1994 08:49:37 GMT.
  private let now = Date(timeIntervalSince1970: 784_111_777)

  @Test(arguments: [("0", 0), ("120", 120), (" 7 ", 7)])
  func `parses a delay in seconds`(value: String, seconds: Int) {
    #expect(RetryAfter.delay(in: [.retryAfter: value], now: now) == .seconds(seconds))
  }

  @Test func `computes the delay for a date relative to the response's Date field`() {
    let headers: HTTPHeaders = [
      "Date": "Sun, 06 Nov 1994 08:49:37 GMT", "Retry-After": "Sun, 06 Nov 1994 08:51:07 GMT",
    ]
    #expect(RetryAfter.delay(in: headers, now: now) == .seconds(90))
  }

  @Test func `computes the delay for a date relative to now if there is no Date field`() {
    #expect(RetryAfter.delay(in: [.retryAfter: "Sun, 06 Nov 1994 08:49:47 GMT"], now: now) == .seconds(10))
  }

  @Test func `a date in the past requires no delay`() {
    let headers: HTTPHeaders = [
      "Date": "Sun, 06 Nov 1994 08:49:37 GMT", "Retry-After": "Sun, 06 Nov 1994 08:49:36 GMT",
    ]
    #expect(RetryAfter.delay(in: headers, now: now) == .zero)
  }

  @Test(arguments: [
    "", "-1", "soon", "1e3", "Sun, 06 Nov", "NaN", ",", ".5", "1.2.3", "1994-11-06T08:49:37Z", "5 minutes",
  ])
  func `ignores an invalid value`(value: String) {
    #expect(RetryAfter.delay(in: [.retryAfter: value], now: now) == nil)
  }

  @Test(arguments: [
    ("1.2", 1200), ("0.0015", 1), ("120.0", 120_000), ("7.", 7000), ("30s", 30_000), ("30 Seconds", 30_000),
    ("2, 2", 2000), ("2, 5", 5000), ("5,2,", 5000), ("soon, 3", 3000), ("-1, 4", 4000),
    ("Sun, 06 Nov 1994 08:49:47 GMT, 3", 10_000), ("20, Sun, 06 Nov 1994 08:49:47 GMT", 20_000),
    ("Sun Nov  6 08:49:47 1994, 3", 10_000),
    ("Sun, 06 Nov 1994 08:49:47 GMT, Sun, 06 Nov 1994 08:49:57 GMT", 20_000),
  ]) func `uses the longest delay if a value has several interpretations`(value: String, milliseconds: Int) {
    #expect(RetryAfter.delay(in: [.retryAfter: value], now: now) == .milliseconds(milliseconds))
  }

  @Test func `uses the longest delay of several Retry-After lines`() {
    let lines: HTTPHeaders = [.retryAfter: "2", .retryAfter: "Sun, 06 Nov 1994 08:49:47 gmt", .retryAfter: "soon"]
    #expect(RetryAfter.delay(in: lines, now: now) == .seconds(10))
    let dates: HTTPHeaders = [
      "Date": "Sun, 06 Nov 1994 08:49:37 GMT", "date": "Sun, 06 Nov 1994 08:49:37 GMT",
      .retryAfter: "Sun, 06 Nov 1994 08:51:07 GMT",
    ]
    #expect(RetryAfter.delay(in: dates, now: now + 60) == .seconds(90))
  }

  @Test(arguments: ["9223372036854775808", "99999999999999999999", String(repeating: "9", count: 400)])
  func `clamps an excessively large number to the longest delay`(value: String) {
    #expect(RetryAfter.delay(in: [.retryAfter: value], now: now) == .seconds(Int64.max))
  }

  @Test func `returns nil if there is no Retry-After field`() { #expect(RetryAfter.delay(in: [:], now: now) == nil) }

  @Test func `a retry computes the delay for a date relative to the manager's clock`() async throws {
    let shop = VirtualShop(.autoAdvancing) { number, request, _ in
      number == 1 ? .unavailable(request, [.retryAfter: HTTPDate.format(Date() + 3630)]) : .ok(request)
    }
    shop.clock.advance(by: .seconds(3600))
    try await shop.task().run()
    #expect((.seconds(3600)...Duration.seconds(3631)).contains(shop.clock.now.offset))
  }

  @Test(arguments: ["9223372036854775807", "999999999999999"])
  func `a delay of any length does not trap and can be cancelled`(value: String) async throws {
    let lines = Shared<[String]>([])
    let log = LogOutput { line in lines.withLock { $0.append(line) } }
    let transport = StubTransport { .status(503, headers: [.retryAfter: value], for: $0) }
    let server = Server("https://shop.test", transport: transport)
    // The default policy fails the call. A custom policy can wait.
    await server.update { $0.retryPolicy = .decided { .retry(after: $0.retryAfter ?? .zero) } }
    await server.update {
      $0.logStyle = .steps
      $0.log = log
    }
    let call = Task { try await PlainTask().on(server).run() }
    #expect(await eventually { lines.withLock({ $0.contains { $0.contains("to retry") } }) })
    await giveWay(100)
    call.cancel()
    await #expect(throws: CancellationError.self) { try await call.value }
    #expect(lines.withLock { $0.count { $0.contains("attempt 1 started") } } == 1)
    #expect(!lines.withLock { $0.contains { $0.contains("attempt 2 started") } }, "the call retried without waiting")
  }

  @Test(arguments: [
    (Duration.milliseconds(250), "0.250 s"), (.seconds(61), "61.000 s"), (.milliseconds(-1500), "-1.500 s"),
    (.milliseconds(-508), "-0.508 s"),
    (.seconds(Int64.max), "9223372036854775807 s"), (.inherited, "-9223372036854775808 s"),
  ])
  func `formats a duration of any length`(duration: Duration, text: String) {
    #expect(duration.formattedSeconds == text)
  }
}
