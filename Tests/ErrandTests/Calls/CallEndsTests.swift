import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// How calls end, what they report and what can delay them.
@Suite(.timeLimit(.minutes(1))) struct CallEndsTests {
  @Test func `the event for the end of a successful call includes the status`() async throws {
    let events = EventRecorder()
    let stub = StubServer(.status(.ok), .status(.noContent)) { $0.observers = [events] }
    try await PlainTask().on(stub.server).run()
    _ = try await PlainTask().on(stub.server).downloadData()
    let ends = events.events.compactMap { event -> HTTPStatus? in
      if case .callEnded(.succeeded(let status)) = event.moment { status } else { nil }
    }
    #expect(ends == [.ok, .noContent])
  }

  @Test func `a call cancelled before its deadline throws only CancellationError`() async throws {
    let gate = Gate()
    let shop = VirtualShop { _, request, _ in
      await gate.wait()  // ignores cancellation
      return .ok(request)
    }
    let call = Task { try await shop.task().deadline(.seconds(10)).run() }
    await shop.clock.sleepers(count: 1)
    #expect(await eventually { shop.sentCount == 1 })
    #expect(await shop.manager.cancelAll() == 1)
    shop.clock.advance(by: .seconds(10))
    gate.open()
    await #expect(throws: CancellationError.self) { try await call.value }
  }

  /// Returns its own response while the request is still running.
  private struct Overtaking: PerCallStep {
    let gate = Gate()
    let sent = Counter()
    let ended = Counter()

    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      Task {
        _ = try? await next(request)
        ended.add()
      }
      await sent.reached(1)
      return HTTPResponse(.ok, url: request.url, body: HTTPResponseBody(Data("own".utf8)))
    }
  }

  @Test func `a download that finishes after a step has responded leaves no files behind`() async throws {
    let step = Overtaking()
    let shop = VirtualShop(configure: { $0.perCallSteps = [step] }) { _, request, _ in
      step.sent.add()
      await step.gate.wait()
      return HTTPResponse(.ok, url: request.url, body: HTTPResponseBody(Data(count: 100_000)))
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("new/file")
      try await shop.task().download(to: file)
      step.gate.open()
      await step.ended.reached(1)
      #expect(shop.sentCount == 1)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/new") == ["file"])
      #expect(try Data(contentsOf: file) == Data("own".utf8))
    }
  }

  private struct Slow: ServerTask {
    let clock: ManualClock
    func didFail(with error: any Error) async { try? await CallClock(clock).sleep(for: .seconds(3600)) }
  }

  @Test func `a slow didFail does not delay a cancelled call`() async throws {
    let shop = VirtualShop { _, request, clock in
      try await CallClock(clock).sleep(for: .seconds(1))
      return .ok(request)
    }
    let call = Task { try await Slow(clock: shop.clock).on(shop.server).run() }
    await shop.clock.sleepers(count: 1)
    #expect(await shop.manager.cancelAll() == 1)
    await #expect(throws: CancellationError.self) { try await call.value }
  }

  @Test(arguments: [true, false]) func `a slow probe closes the circuit when its response head arrives`(isStream: Bool)
    async throws
  {
    let breaker = CircuitBreaker(minimumCalls: 1, openDuration: .seconds(30), probes: 1)
    let gate = Gate()
    let shop = VirtualShop(
      configure: {
        $0.circuitBreaker = breaker
        $0.retryPolicy = .never
      },
      answer: { number, request, _ in
        switch number {
        case 1: return .status(503, for: request)
        case 2:
          return HTTPResponse(url: request.url, body: HTTPResponseBody(HeldBody(gate: gate)))
        default: return .ok(request)
        }
      })
    _ = await taskError { try await shop.task().run() }
    #expect(await taskError { try await shop.task().run() }?.code == .circuitOpen)
    shop.clock.advance(by: .seconds(30))
    if isStream {
      let stream = try await shop.task().stream()
      try await shop.task().run()
      gate.open()
      stream.body.cancel()
    } else {
      try await withFolder { folder in
        let download = Task { try await shop.task().download(to: folder.appendingPathComponent("file")) }
        #expect(await eventually { shop.sentCount == 2 })
        #expect(await eventually { (try? await shop.task().run()) != nil })
        gate.open()
        _ = try await download.value
      }
    }
  }

  /// A body that ends only when the gate opens.
  private final class HeldBody: HTTPBodySource {
    private let gate: Gate
    init(gate: Gate) { self.gate = gate }
    func next() async throws -> Data? {
      await gate.wait()
      return nil
    }
    func cancel() {}
  }

  private struct Twice: PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      try await next(request).body.cancel()
      return try await next(request)
    }
  }

  @Test func `progress reports the attempt number, even if an attempt sends several requests`() async throws {
    let reported = Shared<[Int]>([])
    let tokens = NumberedTokens(valid: 2)
    let shop = VirtualShop(
      configure: {
        $0.authentication = .custom(tokens)
        $0.perAttemptSteps = [Twice()]
      },
      answer: { _, request, _ in tokens.answer(request) })
    try await URLTask(.known("https://shop.test/a"), method: .put, body: .bytes(Data(repeating: 1, count: 1000)))
      .progress { progress in reported.withLock { $0.append(progress.attempt) } }.on(shop.server).run()
    #expect(shop.sentCount >= 3 && Set(reported.withLock { $0 }) == [1], "\(reported.withLock { $0 })")
  }

  @Test func `a ping is neither hedged nor answered from the cache`() async throws {
    let shop = CachedShop(
      configure: { $0.hedging = .after(.zero) },
      answer: { _, request in
        HTTPResponse(url: request.url, headers: [.cacheControl: "max-age=600"], body: HTTPResponseBody(Data("a".utf8)))
      })
    _ = try await URLTask(.known("https://shop.test/")).on(shop.server).downloadData()
    let before = shop.sentCount
    try await shop.server.ping()
    try await shop.server.ping()
    #expect(shop.sentCount == before + 2)
  }

  @Test func `a modified FileBackedTask refreshes its file and uses the modified tag`() async throws {
    struct Catalogue: FileBackedTask {
      let path = "catalogue"
      let file: URL
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("catalogue")
      let shop = CachedShop(
        configure: { $0.computedHeaders = { $0 is Catalogue ? ["X-Catalogue": "1"] : [:] } },
        answer: { _, request in .text("v1", [:], for: request) })
      let task = Catalogue(file: file).on(shop.server)
      try await task.refresh()
      #expect(try await task.contents() == Data("v1".utf8))
      #expect(task.taskTag == "Catalogue" && task.tagged("nightly").taskTag == "nightly")
      #expect(try await shop.server.standardHeaders(for: task)["X-Catalogue"] == "1")
    }
  }
}
