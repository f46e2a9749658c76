import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Refreshing a rejected or expired token during concurrent calls.
@Suite(.timeLimit(.minutes(1))) struct RefreshTests {
  private struct Refused: Error {}

  /// Creates a shop that delays the first responses until `together` requests have arrived.
  private func shop(
    _ tokens: NumberedTokens, limits: ThrottleLimits = ThrottleLimits(), budget: RetryBudget = .unlimited,
    mode: ManualClock.Mode = .manual, together: Int = 0,
    configure: (inout ServerConfiguration) -> Void = { _ in }
  ) -> VirtualShop {
    let sent = Counter()
    return VirtualShop(
      mode, limits: limits, budget: budget,
      configure: {
        $0.authentication = .custom(tokens)
        configure(&$0)
      },
      answer: { _, request, _ in
        sent.add()
        await sent.reached(together)
        return tokens.answer(request)
      })
  }

  @Test func `refreshes a token once for all calls rejected with a 401 and resends each call`() async throws {
    let gate = Gate()
    let tokens = NumberedTokens(valid: 2, gate: gate)
    let shop = shop(tokens, limits: ThrottleLimits(perHost: 20), together: 20)
    let calls = (0..<20).map { _ in Task { try await shop.task(method: .post).run().status } }
    #expect(await eventually { shop.moments(containing: "waiting for a new token").count == 20 })
    #expect(shop.manager.runningCount == 0, "waiting calls hold no slot")
    gate.open()
    for call in calls { #expect(try await call.value == .ok) }
    #expect(tokens.replaced == [1] && shop.sentCount == 40)
    await shop.events.balanced()
  }

  @Test func `releases the slot of a 401 response before waiting for the token`() async throws {
    let tokens = NumberedTokens(valid: 2)
    let shop = shop(tokens, limits: ThrottleLimits(perHost: 1))
    let calls = (0..<10).map { _ in Task { try await shop.task().run().status } }
    for call in calls { #expect(try await call.value == .ok) }
    #expect(tokens.replaced == [1])
  }

  @Test func `resends a call rejected with an older token without another refresh`() async throws {
    let (late, began) = (Gate(), Counter())
    let tokens = NumberedTokens()
    let shop = VirtualShop(
      configure: { $0.authentication = .custom(tokens) },
      answer: { number, request, _ in
        let answer = tokens.answer(request)
        began.add()
        if number == 1 { await late.wait() }
        return answer
      })
    tokens.revoke()
    let slow = Task { try await shop.task("slow").run().status }
    await began.reached(1)
    #expect(try await shop.task().run().status == .ok)
    #expect(tokens.replaced == [1])
    late.open()
    #expect(try await slow.value == .ok)
    #expect(tokens.replaced == [1], "the rejected token has already been replaced")
  }

  @Test func `refreshes a token shortly before it expires`() async throws {
    let tokens = NumberedTokens()
    let shop = shop(tokens)
    try await shop.task().run()
    tokens.end(1, at: shop.manager.dates.epoch.addingTimeInterval(3600))
    shop.clock.advance(by: .seconds(3539))
    try await shop.task().run()
    #expect(tokens.replaced.isEmpty)
    shop.clock.advance(by: .seconds(1) + .milliseconds(1))  // dates are rounded to a few tenths of a microsecond
    try await shop.task().run()
    #expect(tokens.replaced == [1] && shop.sentCount == 3, "no request was rejected")
  }

  @Test func `sends an expiring token, but not an expired one, if the refresh fails`() async throws {
    let tokens = NumberedTokens()
    let shop = shop(tokens)
    tokens.end(1, at: shop.manager.dates.epoch.addingTimeInterval(3600))
    tokens.fail(Refused())
    try await shop.task().run()
    shop.clock.advance(by: .seconds(3550))
    try await shop.task().run()
    try await shop.task().run()
    #expect(tokens.replaced == [1], "the refresh is not retried during the pause")
    shop.clock.advance(by: .seconds(60))
    await #expect(throws: Refused.self) { try await shop.task().run() }
    #expect(tokens.replaced == [1, 1] && shop.sentCount == 3)
  }

  @Test func `a failed refresh fails all waiting calls with its error and is not retried`() async throws {
    let (gate, own) = (
      Gate(), TaskError(.cannotConnect, "the desk is closed", phase: .connecting, wasNotSent: true)
    )
    let tokens = NumberedTokens(valid: 2, gate: gate)
    tokens.fail(own)
    let shop = shop(tokens, limits: ThrottleLimits(perHost: 20), mode: .autoAdvancing, together: 20)
    let calls = (0..<20).map { _ in Task { await taskError { try await shop.task().run() } } }
    #expect(await eventually { shop.moments(containing: "waiting for a new token").count == 20 })
    gate.open()
    for call in calls {
      let error = try #require(await call.value)
      #expect(error.code == .cannotConnect && error.reason == "the desk is closed" && error.attempts.count == 1)
      #expect(!error.wasNotSent, "a request was sent and rejected")
    }
    #expect(tokens.replaced == [1] && shop.sentCount == 20)
    tokens.fail(nil)
    shop.clock.advance(by: .seconds(1))
    #expect(try await shop.task().run().status == .ok)
  }

  @Test func `passes an app-defined refresh error to the caller unchanged`() async throws {
    let tokens = NumberedTokens(stored: nil)
    tokens.fail(Refused())
    let shop = shop(tokens)
    await #expect(throws: Refused.self) { try await shop.task().run() }
    #expect(shop.sentCount == 0 && tokens.replaced == [nil])
  }

  @Test func `a cancelled caller returns immediately while the refresh continues for the others`() async throws {
    let gate = Gate()
    let tokens = NumberedTokens(valid: 2, gate: gate)
    let shop = shop(tokens)
    let calls = (0..<5).map { _ in Task { try await shop.task().run().status } }
    #expect(await eventually { shop.moments(containing: "waiting for a new token").count == 5 })
    for call in calls.prefix(3) { call.cancel() }
    for call in calls.prefix(3) { await #expect(throws: CancellationError.self) { try await call.value } }
    gate.open()
    for call in calls.suffix(2) { #expect(try await call.value == .ok) }
    #expect(tokens.replaced == [1] && tokens.cancelled == 0)
  }

  @Test func `cancelling the last caller cancels the refresh, and the next call starts a new one`() async throws {
    let tokens = NumberedTokens(valid: 2, gate: Gate())
    let shop = shop(tokens)
    let calls = (0..<3).map { _ in Task { try await shop.task().run().status } }
    #expect(await eventually { shop.moments(containing: "waiting for a new token").count == 3 })
    for call in calls { call.cancel() }
    for call in calls { await #expect(throws: CancellationError.self) { try await call.value } }
    #expect(await eventually { tokens.cancelled == 1 })
    #expect(try await shop.task().run().status == .ok, "cancelling the first refresh opened the gate")
    #expect(tokens.replaced == [1, 1])
    await shop.events.balanced()
  }

  @Test func `does not resend a one-shot body after a 401, but the next call uses a new token`() async throws {
    let tokens = NumberedTokens(valid: 2)
    let shop = shop(tokens)
    let once = HTTPBody.once(AsyncStream<Data> { $0.finish() })
    let task = URLTask(.known("https://shop.test/up"), method: .put, body: once).on(shop.server)
    let error = await taskError { try await task.run() }
    #expect(
      error?.status == 401 && error?.retryRefusal == "the request body can only be read once" && shop.sentCount == 1)
    #expect(error?.bodyText == #"{"error":"token"}"#, "the error keeps the response body")
    #expect(tokens.replaced.isEmpty)
    #expect(try await shop.task().run().status == .ok)
    #expect(shop.sentCount == 2 && tokens.replaced == [1])
  }

  @Test func `does not resend a .neverRepeat request after a 401`() async throws {
    let shop = shop(NumberedTokens(valid: 2))
    let error = await taskError { try await shop.task().idempotency(.neverRepeat).run() }
    #expect(error?.status == 401 && shop.sentCount == 1)
  }

  @Test func `does not replace a rejected new token until the delay has passed`() async throws {
    let tokens = NumberedTokens(valid: 1000)
    let shop = VirtualShop(
      configure: { $0.authentication = .custom(tokens) },
      answer: { number, request, _ in .json("[\(number)]", status: 401, for: request) })
    let first = await taskError { try await shop.task().run() }
    #expect(first?.status == 401 && first?.bodyText == "[2]" && shop.sentCount == 2 && tokens.replaced.count == 1)
    let second = await taskError { try await shop.task().run() }
    #expect(
      second?.bodyText == "[3]" && shop.sentCount == 3 && tokens.replaced.count == 1,
      "the new token is not replaced in a loop")
    shop.clock.advance(by: .seconds(1))
    _ = await taskError { try await shop.task().run() }
    #expect(tokens.replaced.count == 2)
  }

  @Test func `a call's deadline applies while the call waits for a token`() async throws {
    let tokens = NumberedTokens(valid: 2, gate: Gate())
    let shop = shop(tokens)
    let call = Task { await taskError { try await shop.task().deadline(.seconds(5)).run() } }
    #expect(await eventually { shop.moments(containing: "waiting for a new token").count == 1 })
    await shop.clock.pass(.seconds(5))
    let error = try #require(await call.value)
    #expect(error.timer == .call && error.phase == .authenticating, "\(error)")
    #expect(await eventually { tokens.cancelled == 1 })
  }

  @Test func `a resend after a refresh uses the retry budget, but the refresh does not`() async throws {
    let tokens = NumberedTokens(valid: 2)
    let shop = shop(tokens, budget: RetryBudget(ratio: 0, capacity: 1))
    for _ in 0..<5 { #expect(try await shop.task().run().status == .ok) }
    let host = try #require(Origin(.known("https://shop.test")))
    #expect(shop.manager.retriesLeft(for: host) == 0)
    tokens.revoke()
    let error = await taskError { try await shop.task().run() }
    #expect(error?.status == 401 && error?.retryRefusal == "the retry budget for shop.test is exhausted")
    #expect(try await shop.task().run().status == .ok, "the new token is available even without a retry")
  }

  @Test func `does not use an authenticator for the calls that its own refresh makes`() async throws {
    struct Login: Authenticator {
      let server: Shared<Server?>
      func storedToken() async throws -> String? { nil }
      func apply(_ token: String, to request: inout HTTPRequest) { request.headers["X-Token"] = token }
      func refresh(_ token: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
        guard let server = server.withLock({ $0 }) else { return nil }
        return try await PlainTask(path: "login").on(server).run().headers["X-New"]
      }
    }
    let server = Shared<Server?>(nil)
    let seen = Shared<[String]>([])
    let shop = VirtualShop(
      limits: ThrottleLimits(perHost: 1), configure: { $0.authentication = .custom(Login(server: server)) },
      answer: { _, request, _ in
        seen.withLock { $0.append("\(request.url.path) \(request.headers["X-Token"] ?? "-")") }
        return .status(.ok, headers: ["X-New": "n"], for: request)
      })
    server.withLock { $0 = shop.server }
    try await shop.task("a").run()
    #expect(seen.withLock { $0 } == ["/login -", "/a n"])
  }

  @Test func `requests sent through RefreshContext skip the server's hooks, steps and headers`() async throws {
    struct Login: Authenticator {
      func storedToken() async throws -> String? { nil }
      func apply(_ token: String, to request: inout HTTPRequest) { request.headers["X-Token"] = token }
      func refresh(_ token: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
        let url = URL.known("https://shop.test/token")
        let response = try await context.send(HTTPRequest(.post, url, body: .text("secret")))
        return String(decoding: try await response.body.collect(), as: UTF8.self)
      }
    }
    struct Step: PerCallStep, PerAttemptStep {
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        request.headers["X-Step"] = "1"
        return try await next(request)
      }
    }
    let seen = Shared<[HTTPRequest]>([])
    let shop = VirtualShop(
      configure: {
        $0.authentication = .custom(Login())
        $0.standardHeaders["X-Key"] = "k"
        $0.computedHeaders = { _ in ["X-Computed": "c"] }
        $0.preflight = { _, request in request.headers["X-Hook"] = "h" }
        $0.perCallSteps = [Step()]
        $0.perAttemptSteps = [Step()]
      },
      answer: { _, request, _ in
        seen.withLock { $0.append(request) }
        return request.url.path == "/token" ? .json("new", for: request) : .ok(request)
      })
    try await shop.task().run()
    let requests = seen.withLock { $0 }
    #expect(requests.map(\.url.path) == ["/token", "/widgets"])
    #expect(Set(requests[0].headers.map(\.name.rawName)) == ["User-Agent", "Content-Type"])
    #expect(requests[1].headers["X-Token"] == "new" && requests[1].headers["X-Step"] == "1")
  }

  @Test func `reports a CancellationError thrown by a refresh as .authenticationFailed`() async throws {
    struct Cancelled: Authenticator {
      func storedToken() async throws -> String? { nil }
      func apply(_ token: String, to request: inout HTTPRequest) {}
      func refresh(_ token: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
        throw CancellationError()
      }
    }
    let shop = VirtualShop(
      configure: { $0.authentication = .custom(Cancelled()) }, answer: { _, request, _ in .ok(request) })
    #expect(await taskError { try await shop.task().run() }?.code == .authenticationFailed)
  }

  @Test func `refreshes the token after forget()`() async throws {
    let tokens = NumberedTokens()
    let authentication = Authentication.custom(tokens)
    let shop = VirtualShop(
      configure: { $0.authentication = authentication }, answer: { _, request, _ in tokens.answer(request) })
    try await shop.task().run()
    try await authentication.forget()
    try await shop.task().run()
    #expect(tokens.replaced == [nil] && tokens.forgotten == 1)
  }
}
