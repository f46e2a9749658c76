import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct ServerSentEventsTests {
  private struct Prices: ServerGETTask { let path = "prices" }
  private struct Ask: ServerPOSTTask, DataUploadingTask {
    let uploadData = Data("?".utf8)
    var idempotency = Idempotency.automatic
  }

  private func stream(_ text: String) -> StubLog.Answer { .data(Data(text.utf8), "text/event-stream; charset=utf-8") }

  private func all(_ events: ServerSentEvents) async throws -> [String] {
    var all: [String] = []
    for try await event in events { all.append(event.data) }
    return all
  }

  @Test func `reconnects until the server answers 204`() async throws {
    let stub = StubServer(
      stream("id: 1\ndata: a\n\ndata: half"), stream("retry: 100\n\nid: 2\ndata: b\n\n"), stream("data: c\n\n"),
      .status(204))
    #expect(try await all(Prices().on(stub.server).events()) == ["a", "b", "c"])
    #expect(stub.requests.map { $0.headers["Last-Event-ID"] } == [nil, "1", "2", "2"])
    #expect(stub.requests.allSatisfy { $0.headers[.accept] == "text/event-stream" })
    // HTML Standard §9.2.3: the reconnection time is 3 s by default, then 100 ms as set by `retry`.
    #expect(stub.clock.now.offset == .seconds(3) + .milliseconds(200))
  }

  @Test func `sends Last-Event-ID only to the task's origin and to the origin that issued the ID`()
    async throws
  {
    func moved(to url: String) -> StubLog.Answer { .status(307, [.location: url]) }
    let stub = StubServer(
      moved(to: "https://a.test/"), stream("id: 1\ndata: a\n\n"), moved(to: "https://a.test/"), stream("data: b\n\n"),
      moved(to: "https://evil.test/"), moved(to: "https://a.test/"), stream("id: 2\ndata: c\n\n"), .status(204))
    #expect(try await all(Prices().on(stub.server).events()) == ["a", "b", "c"])
    let seen = stub.requests.map { "\($0.url.host() ?? "") \($0.headers[.lastEventID] ?? "-")" }
    #expect(
      seen == [
        "shop.test -", "a.test -", "shop.test 1", "a.test 1", "shop.test 1", "evil.test -", "a.test -", "shop.test 2",
      ])
  }

  @Test func `does not resend a POST that a redirect turned into a GET`() async throws {
    let stub = StubServer(.status(303, [.location: "https://shop.test/feed"]), stream("data: a\n\n"), .status(204))
    #expect(try await all(Ask().on(stub.server).events()) == ["a"])
    #expect(stub.requests.map(\.method) == [.post, .get])
  }

  @Test func `the error of a later connection is reported as the stream's error`() async throws {
    let stub = StubServer(stream("data: a\n\n"), .status(404))
    let error = await #expect(throws: TaskError.self) { try await all(Prices().on(stub.server).events()) }
    #expect(error?.reason == "404 Not Found" && error?.isFromAnotherCall == false)
    #expect(error?.record.entries.count { "\($0.moment)" == "call started" } == 1)
  }

  @Test func `ends at the terminator without yielding the terminator`() async throws {
    let stub = StubServer(stream("data: a\n\ndata: [DONE]\n\ndata: b\n\n"))
    #expect(try await all(Prices().on(stub.server).events(until: "[DONE]")) == ["a"])
    #expect(stub.requests.count == 1)
  }

  @Test func `throws .truncatedBody if the stream ends without its terminator`() async throws {
    let stub = StubServer(stream("data: a\n\ndata: b"))
    var seen: [String] = []
    let error = await #expect(throws: TaskError.self) {
      for try await event in Ask().on(stub.server).events(until: "[DONE]") { seen.append(event.data) }
    }
    #expect(error?.code == .truncatedBody && seen == ["a"] && stub.requests.count == 1)
  }

  private struct Account: Decodable { let name: String }

  @Test func `the error for an undecodable event does not contain the event's data`() async throws {
    let stub = StubServer(stream("data: {\"iban\":\"DE-SECRET\"} oops\n\n"))
    let error = await #expect(throws: TaskError.self) {
      for try await _ in Prices().on(stub.server).events(of: Account.self) {}
    }
    #expect(error?.code == .decodingFailed && error.map { "\($0)" }?.contains("SECRET") == false)
    let lines = await #expect(throws: TaskError.self) {
      for try await _ in HTTPResponseBody(Data("{\"iban\":\"DE-SECRET\"} oops\n".utf8)).jsonLines(of: Account.self) {}
    }
    #expect(lines?.code == .decodingFailed && lines.map { "\($0)" }?.contains("SECRET") == false)
  }

  @Test func `yields the events that precede an oversized event`() async throws {
    let stub = StubServer(stream("data: a\n\ndata: far too long\n\n"))
    var seen: [String] = []
    let error = await #expect(throws: TaskError.self) {
      for try await event in Prices().on(stub.server).events(upTo: 10) { seen.append(event.data) }
    }
    #expect(seen == ["a"] && error?.code == .bodyTooLarge && error?.reason.contains("10 bytes") == true)
  }

  @Test func `events with the same fields are equal`() async throws {
    for try await event in Prices().on(StubServer(stream("id: 1\ndata: a\n\n")).server).retry(.never).events() {
      #expect(
        event == ServerSentEvent(data: "a", id: "1") && "\(event)".hasSuffix(#"(name: "message", data: "a", id: "1")"#))
    }
  }

  private func isNamed(_ error: TaskError?) -> Bool {
    error?.method == .get && error?.url == "https://shop.test/prices" && error?.record.entries.isEmpty == false
  }

  @Test func `an error while reading a stream names the call`() async throws {
    let stub = StubServer(stream("data: a\n\ndata: too long for it\n\n"))
    let task = Prices().on(stub.server)
    let odd = await #expect(throws: TaskError.self) { for try await _ in task.events(of: Price.self) {} }
    #expect(odd?.code == .decodingFailed && isNamed(odd))
    let long = await #expect(throws: TaskError.self) { for try await _ in task.events(upTo: 10) {} }
    #expect(isNamed(long))
    let cut = await #expect(throws: TaskError.self) { for try await _ in task.retry(.never).events(until: "[DONE]") {} }
    #expect(cut?.code == .truncatedBody && isNamed(cut))
    let other = Prices().on(StubServer(.data(Data("{\"m\":1}\n".utf8), "application/json")).server)
    let type = await #expect(throws: TaskError.self) { for try await _ in other.events() {} }
    #expect(type?.code == .badResponse && isNamed(type))
    let line = await #expect(throws: TaskError.self) {
      for try await _ in try await other.stream().body.jsonLines(of: Price.self) {}
    }
    #expect(line?.code == .decodingFailed && isNamed(line))
    let parts = await #expect(throws: TaskError.self) { for try await _ in try await other.stream().parts() {} }
    #expect(parts?.code == .badResponse && isNamed(parts))
    let cutParts = Prices().on(
      StubServer(.data(Data("--b\r\n\r\nhalf".utf8), "multipart/mixed; boundary=b")).server)
    let half = await #expect(throws: TaskError.self) {
      for try await part in try await cutParts.stream().parts() { _ = try await part.body.collect() }
    }
    #expect(half?.code == .truncatedBody && isNamed(half))
  }

  @Test(arguments: [
    ("0", Duration.milliseconds(100)), ("99999999999999999999", .seconds(600)), ("250", .milliseconds(250)),
  ])
  func `clamps the reconnection time set by the server`(stated: String, wait: Duration) async throws {
    let stub = StubServer(stream("retry: \(stated)\nid: 1\ndata: a\n\n"), .status(204))
    #expect(try await all(Prices().on(stub.server).events()) == ["a"])
    #expect(stub.clock.now.offset == wait)
  }

  @Test func `fails after the number of empty connections that the retry policy allows`() async throws {
    let stub = StubServer(stream("data: a\n\n"), stream(""))
    var seen: [String] = []
    let error = await #expect(throws: TaskError.self) {
      for try await event in Prices().on(stub.server).events() { seen.append(event.data) }
    }
    #expect(error?.code == .connectionLost && seen == ["a"] && stub.requests.count == 4)
    let once = StubServer(stream("data: a\n\n"))
    #expect(try await all(Prices().on(once.server).retry(.never).events()) == ["a"])
    #expect(once.requests.count == 1)
  }

  @Test func `reconnects after an outage that outlasts the retry policy, with growing delays`() async throws {
    let shop = VirtualShop(.autoAdvancing) { number, request, _ in
      switch number {
      case 1, 32:
        HTTPResponse(
          url: request.url, headers: [.contentType: "text/event-stream"],
          body: HTTPResponseBody(Data("data: \(number)\n\n".utf8)))
      case 33...: .status(.noContent, for: request)
      default: .unavailable(request)
      }
    }
    #expect(try await all(Prices().on(shop.server).events()) == ["1", "32"])
    let time = shop.clock.now.offset
    #expect(
      shop.sentCount == 33 && time >= .seconds(396), "the delays are 3, 3, 6, 12, 24, 48 and 5 times 60 s: \(time)")
  }

  @Test func `keepalive comments count as activity`() async throws {
    let beat = stream(": beat\n\n")
    let stub = StubServer(beat, beat, beat, beat, stream("data: news\n\n"), .status(204))
    #expect(try await all(Prices().on(stub.server).events()) == ["news"])
    #expect(stub.requests.count == 6)
  }

  @Test(arguments: [StubLog.Answer.status(503), .status(429), .status(502)])
  func `retries a POST with event IDs up to the retry policy's limit`(refusal: StubLog.Answer) async throws {
    let stub = StubServer(stream("id: 1\ndata: a\n\n"), refusal, refusal, stream("data: b\n\n"), .status(204))
    #expect(try await all(Ask().on(stub.server).events()) == ["a", "b"])
    #expect(stub.requests.map { $0.headers["Last-Event-ID"] } == [nil, "1", "1", "1", "1"])
    let first = StubServer(refusal, stream("data: a\n\n"))
    await #expect(throws: TaskError.self) { try await all(Ask().on(first.server).events()) }
    #expect(first.requests.count == 1)
  }

  @Test func `resends a POST only if it is idempotent or its events have IDs`() async throws {
    let plain = StubServer(stream("data: a\n\n"), .status(204))
    #expect(try await all(Ask().on(plain.server).events()) == ["a"])
    #expect(plain.requests.count == 1)
    let numbered = StubServer(stream("id: 1\ndata: a\n\n"), .status(204))
    #expect(try await all(Ask().on(numbered.server).events()) == ["a"])
    #expect(numbered.requests.map { $0.headers["Last-Event-ID"] } == [nil, "1"])
    #expect(numbered.requests.allSatisfy { $0.body.data == Data("?".utf8) })
    let never = StubServer(stream("id: 1\ndata: a\n\n"), .status(204))
    #expect(try await all(Ask(idempotency: .neverRepeat).on(never.server).events()) == ["a"])
    #expect(never.requests.count == 1)
    let harmless = StubServer(stream("data: a\n\n"), .status(204))
    #expect(try await all(Ask(idempotency: .safeToRepeat).on(harmless.server).events()) == ["a"])
    #expect(harmless.requests.count == 2)
  }

  @Test func `reconnects with the same Idempotency-Key`() async throws {
    let stub = StubServer(
      stream("data: a\n\n"), stream("data: b\n\n"), .status(204), stream("data: c\n\n"), .status(204))
    let events = Ask(idempotency: .key).on(stub.server).events()
    #expect(try await all(events) == ["a", "b"])
    #expect(try await all(events) == ["c"])
    let keys = stub.requests.map { $0.headers[.idempotencyKey] }
    #expect(keys[0] != nil && Set(keys[0...2]).count == 1 && Set(keys[3...4]).count == 1 && keys[0] != keys[3])
  }

  @Test func `waits for Retry-After, up to ten minutes`() async throws {
    let stub = StubServer(
      stream("retry: 100\n\ndata: a\n\n"), .status(429, [.retryAfter: "60"]), .status(503, [.retryAfter: "7200"]),
      .status(204))
    #expect(try await all(Prices().on(stub.server).retry(.fixed(retries: 1, delay: .zero)).events()) == ["a"])
    #expect(stub.clock.now.offset >= .seconds(660) && stub.clock.now.offset < .seconds(800))
  }

  /// A body without data, whose connection is silent for too long or breaks.
  private final class Failing: HTTPBodySource {
    private let error: TaskError

    init(_ error: TaskError) { self.error = error }

    func next() async throws -> Data? { throw error }
    func cancel() {}
  }

  @Test func `a silent connection does not lengthen the delay, but a broken connection does`() async throws {
    let requests = Shared(0)
    let clock = ManualClock(.autoAdvancing)
    let transport = StubTransport { request in
      let number = requests.withLock { requests in
        requests += 1
        return requests
      }
      if number > 10 { return .status(.noContent, for: request) }
      let error =
        number > 5
        ? TaskError(.truncatedBody, "cut", phase: .receiving)
        : TaskError.timeout(.idle, after: .seconds(30), phase: .receiving)
      let body = HTTPResponseBody(Failing(error))
      return HTTPResponse(.ok, url: request.url, headers: [.contentType: "text/event-stream"], body: body)
    }
    let server = Server(
      "https://shop.test", transport: transport, manager: TaskManager(clock: CallClock(clock)), environment: [:])
    #expect(try await all(Prices().on(server).events()) == [])
    // Five silent connections, and five broken ones whose delay doubles: 3, 6, 12, 24 and 48 s.
    #expect(clock.now.offset == .seconds(5 * 3 + 93))
  }

  @Test(arguments: [TaskError.Code.circuitOpen, .connectionLost]) func `reconnects after a transient failure`(
    code: TaskError.Code
  ) async throws {
    let failure = StubLog.Answer.failure(TaskError(code, "no", phase: .waiting, wasNotSent: true))
    let stub = StubServer(stream("data: a\n\n"), failure, stream("data: b\n\n"), .status(204))
    #expect(try await all(Prices().on(stub.server).events()) == ["a", "b"])
  }

  @Test func `a token request's error is transient if its cause is transient`() {
    func error(_ code: TaskError.Code, _ status: HTTPStatus? = nil) -> TaskError {
      var error = TaskError(code, "no", phase: .authenticating)
      (error.status, error.isTokenFailure) = (status, true)
      return error
    }
    #expect(error(.authenticationFailed, 503).isTransient && error(.authenticationFailed, 500).isTransient)
    #expect(error(.connectionLost).isTransient && !error(.authenticationFailed, 400).isTransient)
    #expect(!error(.signInRequired).isTransient && !TaskError(.badStatus, "404", phase: .finishing).isTransient)
  }

  @Test func `does not reconnect with the token of another user`() async throws {
    let signIn = Authentication.bearer { "token" }
    let stub = StubServer(stream("id: 1\ndata: a\n\n"), stream("data: b\n\n"), .status(204)) {
      $0.authentication = signIn
    }
    let error = await #expect(throws: TaskError.self) {
      for try await _ in Prices().on(stub.server).events() { try await signIn.forget() }
    }
    #expect(error?.code == .authenticationFailed && stub.requests.count == 1)
  }

  /// Prices whose URL can move to another host between two connections.
  private struct MovingPrices: ServerTask {
    let host: Shared<String>
    var url: URL { get throws { try #require(URL(string: "https://\(host.withLock { $0 })/prices")) } }
  }

  @Test func `does not send Last-Event-ID to another origin after the task's URL has changed`() async throws {
    let host = Shared("shop.test")
    let stub = StubServer(stream("id: 1\ndata: a\n\n"), stream("data: b\n\n"), .status(204))
    var received: [String] = []
    for try await event in MovingPrices(host: host).on(stub.server).events() {
      received.append(event.data)
      if received.count == 1 { host.withLock { $0 = "other.test" } }
    }
    #expect(received == ["a", "b"])
    let seen = stub.requests.map { "\($0.url.host() ?? "") \($0.headers[.lastEventID] ?? "-")" }
    #expect(seen == ["shop.test -", "other.test -", "other.test -"])
  }

  @Test(arguments: [StubLog.Answer.json("{}"), .status(200), .data(Data("data: a\n\n".utf8), "text/plain")])
  func `throws .badResponse if the response is not an event stream`(answer: StubLog.Answer) async {
    let stub = StubServer(answer)
    let error = await #expect(throws: TaskError.self) { try await all(Prices().on(stub.server).events()) }
    #expect(error?.code == .badResponse && stub.requests.count == 1)
  }

  @Test(arguments: [201, 202, 203, 205, 206, 226]) func `a 2xx other than 200 fails the event stream`(
    code: Int
  ) async {
    let events = Data("id: 1\ndata: a\n\n".utf8)
    let stub = StubServer(.data(events, "text/event-stream", HTTPStatus(code)), .status(204))
    let error = await #expect(throws: TaskError.self) { try await all(Prices().on(stub.server).events()) }
    #expect(error?.code == .badStatus && error?.status == HTTPStatus(code) && stub.requests.count == 1)
    #expect(error?.reason.contains("expected 200") == true && isNamed(error))
  }

  @Test func `accepts other statuses only if the task accepts them, even on later connections`() async throws {
    let created = StubLog.Answer.data(Data("id: 1\ndata: a\n\n".utf8), "text/event-stream", .created)
    let stub = StubServer(created, .status(204))
    #expect(try await all(Prices().on(stub.server).accepting([.created, .noContent]).events()) == ["a"])
    let others = StubServer(.data(Data("data: a\n\n".utf8), "text/event-stream", .notFound), .status(204))
    let lenient = Prices().on(others.server).accepting(.any)
    let error = await #expect(throws: TaskError.self) { try await all(lenient.events()) }
    #expect(error?.status == .notFound)
    let later = StubServer(stream("id: 1\ndata: a\n\n"), created, .status(204))
    let second = await #expect(throws: TaskError.self) { try await all(Prices().on(later.server).events()) }
    #expect(second?.status == .created && later.requests.count == 2)
  }

  @Test func `sends no-store with each connection unless the task sets Cache-Control`() async throws {
    let stub = StubServer(stream("id: 1\ndata: a\n\n"), .status(204))
    #expect(try await all(Prices().on(stub.server).events()) == ["a"])
    #expect(stub.requests.map { $0.headers[.cacheControl] } == ["no-store", "no-store"])
    #expect(stub.requests.map { $0.headers["Pragma"] } == ["no-cache", "no-cache"])
    let own = StubServer(stream("data: a\n\n"))
    let task = Prices().on(own.server).header(.cacheControl, "max-age=1").retry(.never)
    #expect(try await all(task.events()) == ["a"])
    #expect(own.requests.first?.headers[.cacheControl] == "max-age=1")
  }

  @Test func `fails with .badStatus after the last retry`() async {
    let stub = StubServer(.status(503))
    let error = await #expect(throws: TaskError.self) { try await all(Prices().on(stub.server).events()) }
    #expect(error?.code == .badStatus && stub.requests.count == 3)
  }

  private struct Price: Decodable, Equatable { let n: Int }

  @Test func `decodes events as values and throws on the first invalid event`() async throws {
    let stub = StubServer(stream("data: {\"n\":1}\n\ndata: [DONE]\n\n"))
    var prices: [Price] = []
    for try await price in Prices().on(stub.server).events(of: Price.self, until: "[DONE]") { prices.append(price) }
    #expect(prices == [Price(n: 1)])
    let odd = StubServer(stream("data: {\"m\":1}\n\n"))
    let error = await #expect(throws: TaskError.self) {
      for try await _ in Prices().on(odd.server).events(of: Price.self) {}
    }
    #expect(error?.code == .decodingFailed && odd.requests.count == 1)
  }

  @Test func `cancelAll ends the wait between connections`() async throws {
    let stub = StubServer(stream("data: a\n\n"), clock: .manual)
    let reader = Task { try await all(Prices().on(stub.server).events()) }
    await stub.clock.sleepers(count: 1)
    let cancelled = await stub.server.manager.cancelAll()
    #expect(cancelled == 1)
    await #expect(throws: CancellationError.self) { try await reader.value }
    let left = await stub.server.manager.cancelAll()
    #expect(left == 0 && stub.requests.count == 1)
  }

  @Test func `cancelling the reader ends the wait between connections`() async throws {
    let stub = StubServer(stream("data: a\n\n"), clock: .manual)
    let reader = Task { try await all(Prices().on(stub.server).events()) }
    await stub.clock.sleepers(count: 1)
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
    #expect(stub.server.manager.callCount == 0)
  }
}
