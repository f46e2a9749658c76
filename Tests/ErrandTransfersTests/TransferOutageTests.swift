import ErrandTesting
import Foundation
import Testing

@testable import Errand
@testable import ErrandTransfers

/// Transfers that wait for an open circuit breaker, or for a token endpoint that fails.
@Suite(.timeLimit(.minutes(1))) struct TransferOutageTests {
  /// A breaker that opens for 30 seconds if every second attempt fails.
  private static let breaker = CircuitBreaker(minimumCalls: 1)

  private static func part(_ range: Range<Int>, for request: HTTPRequest, _ end: ScriptedBody.End) -> HTTPResponse {
    var headers: HTTPHeaders = [.eTag: #""one""#]
    if range.lowerBound > 0 { headers[.contentRange] = "bytes \(range.lowerBound)-9/10" }
    let text = String("0123456789".dropFirst(range.lowerBound).prefix(range.count))
    if range.lowerBound == 0 { headers[.contentLength] = "10" }
    return HTTPResponse(
      range.lowerBound > 0 ? .partialContent : .ok, url: request.url, headers: headers,
      body: HTTPResponseBody(ScriptedBody([text], end)))
  }

  @Test func `a download waits until an open circuit lets a request through`() async throws {
    try await withFolder { folder in
      let shop = VirtualShop(.autoAdvancing, configure: { $0.circuitBreaker = Self.breaker }) { number, request, _ in
        Self.part(number == 1 ? 0..<4 : 4..<10, for: request, number == 1 ? .fails : .ends)
      }
      let place = folder.appendingPathComponent("file")
      try await ResumableDownload(shop.task("file"), to: place).run()
      #expect(try String(contentsOf: place, encoding: .utf8) == "0123456789")
      #expect(shop.sentCount == 2 && shop.clock.now.offset >= .seconds(30), "\(shop.clock.now)")
    }
  }

  @Test func `a download that waits for a circuit still ends after three attempts without progress`()
    async throws
  {
    try await withFolder { folder in
      let shop = VirtualShop(.autoAdvancing, configure: { $0.circuitBreaker = Self.breaker }) { _, request, _ in
        .unavailable(request)
      }
      let download = ResumableDownload(shop.task("file"), to: folder.appendingPathComponent("file"))
      let error = await taskError { try await download.run() }
      #expect(error?.status == .serviceUnavailable, "\(String(describing: error))")
      #expect(shop.sentCount == 3 && shop.clock.now.offset >= .seconds(60), "\(shop.clock.now)")
    }
  }

  @Test(arguments: [RetryPolicy.standard, .fixed(retries: 2, delay: .zero)])
  func `a circuit that refuses three attempts in a row ends a download`(policy: RetryPolicy) async throws {
    try await withFolder { folder in
      let (isProbing, isOver) = (Gate(), Gate())
      let shop = VirtualShop(.autoAdvancing, configure: { $0.circuitBreaker = Self.breaker }) { number, request, _ in
        if number == 2 {
          isProbing.open()
          await isOver.wait()
        }
        return .unavailable(request)
      }
      _ = await taskError { try await shop.task().retry(.never).run() }
      shop.clock.advance(by: .seconds(30))
      let probe = Task { await taskError { try await shop.task().retry(.never).run() } }
      await isProbing.wait()
      let before = shop.clock.now.offset
      let task = shop.task("file").retry(policy)
      let download = ResumableDownload(task, to: folder.appendingPathComponent("file"))
      let error = await taskError { try await download.run() }
      isOver.open()
      _ = await probe.value
      #expect(error?.code == .circuitOpen && shop.sentCount == 2, "\(String(describing: error))")
      #expect(error?.description.contains("after 3 attempts") == true, "\(String(describing: error))")
      #expect(shop.clock.now.offset - before >= .seconds(60), "each refusal is followed by a delay")
    }
  }

  @Test func `a download does not wait for a circuit if its task is never retried`() async throws {
    try await withFolder { folder in
      let shop = VirtualShop(.autoAdvancing, configure: { $0.circuitBreaker = Self.breaker }) { _, request, _ in
        .unavailable(request)
      }
      let task = shop.task("file").retry(.never)
      _ = await taskError { try await task.run() }
      let download = ResumableDownload(task, to: folder.appendingPathComponent("file"))
      #expect(await taskError { try await download.run() }?.code == .circuitOpen)
      #expect(shop.sentCount == 1)
    }
  }

  @Test func `an upload waits until an open circuit lets a request through`() async throws {
    let stub = StubServer { $0.circuitBreaker = Self.breaker }
    stub.log.enqueue([
      .status(201, [.location: "/files/1"]), .lost, .status(200, ["Upload-Offset": "0"]),
      .status(204, ["Upload-Offset": "3"]),
    ])
    let task = AddWidget().on(stub.server)
    try await ResumableUpload(named: "a", length: 3, with: task, by: .tus) { _, _ in Data("abc".utf8) }.run()
    #expect(stub.requests.map(\.method) == [.post, .patch, .head, .patch])
    #expect(stub.clock.now.offset >= .seconds(30))
  }

  /// Returns a shop whose token endpoint fails the first `count` requests.
  private func shop(tokenFailures count: Int, _ failure: StubLog.Answer) -> VirtualShop {
    let (service, failures) = (TokenService(), StubLog([failure]))
    let settings = service.settings(.clientCredentials) { $0.retryPolicy = .never }
    return VirtualShop(.autoAdvancing, configure: { $0.authentication = .oauth2(settings) }) { _, request, _ in
      if request.url == TokenService.url, failures.requests.count < count { return try failures.answer(request) }
      return service.answer(request)
    }
  }

  @Test(arguments: [.status(503), .lost] as [StubLog.Answer])
  func `a download continues after a temporary failure of the token endpoint`(failure: StubLog.Answer) async throws {
    try await withFolder { folder in
      let shop = shop(tokenFailures: 2, failure)
      try await ResumableDownload(shop.task("file"), to: folder.appendingPathComponent("file")).run()
      #expect(shop.sentCount == 4)
    }
  }

  @Test(arguments: [(.status(503), 3), (.status(400), 1)] as [(StubLog.Answer, Int)])
  func `a lasting failure of the token endpoint ends a download`(failure: StubLog.Answer, count: Int) async throws {
    try await withFolder { folder in
      let shop = shop(tokenFailures: .max, failure)
      let download = ResumableDownload(shop.task("file"), to: folder.appendingPathComponent("file"))
      #expect(await taskError { try await download.run() }?.code == .authenticationFailed)
      #expect(shop.sentCount == count)
    }
  }

  @Test func `a download keeps its first remote and token after the user changes`() async throws {
    try await withFolder { folder in
      let sent = Shared<[String]>([])
      let (reached, mayContinue) = (Gate(), Gate())
      let shop = VirtualShop(
        .autoAdvancing, configure: { $0.authentication = .bearer("a") },
        answer: { number, request, _ in
          sent.withLock { $0.append("\(request.url.host ?? "") \(request.headers[.authorization] ?? "nobody")") }
          if number == 1 {
            reached.open()
            await mayContinue.wait()
          }
          return Self.part(number == 1 ? 0..<4 : 4..<10, for: request, number == 1 ? .fails : .ends)
        })
      let place = folder.appendingPathComponent("file")
      let run = Task { try await ResumableDownload(shop.task("file"), to: place).run() }
      await reached.wait()
      await shop.switchUser()
      mayContinue.open()
      _ = try await run.value
      #expect(sent.withLock { $0 } == ["shop.test Bearer a", "shop.test Bearer a"])
      #expect(try String(contentsOf: place, encoding: .utf8) == "0123456789")
    }
  }

  @Test func `an upload keeps its first remote and token after the user changes`() async throws {
    let sent = Shared<[String]>([])
    let (reached, mayContinue) = (Gate(), Gate())
    let shop = VirtualShop(
      .autoAdvancing, configure: { $0.authentication = .bearer("a") },
      answer: { _, request, _ in
        let user = request.headers[.authorization] ?? "nobody"
        sent.withLock { $0.append("\(request.method) \(request.url.host ?? "") \(user)") }
        guard request.method == .post else { return .status(204, headers: ["Upload-Offset": "3"], for: request) }
        reached.open()
        await mayContinue.wait()
        return .status(201, headers: [.location: "/files/1"], for: request)
      })
    let task = AddWidget().on(shop.server)
    let upload = ResumableUpload(named: "a", length: 3, with: task, by: .tus) { _, _ in Data("abc".utf8) }
    let run = Task { try await upload.run() }
    await reached.wait()
    await shop.switchUser()
    mayContinue.open()
    _ = try await run.value
    #expect(sent.withLock { $0 } == ["POST shop.test Bearer a", "PATCH shop.test Bearer a"])
  }
}
