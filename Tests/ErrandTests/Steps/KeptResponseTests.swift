import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Steps that return a response of another call.
@Suite(.timeLimit(.minutes(1))) struct KeptResponseTests {
  /// Keeps the last response for each URL, and returns it instead of sending the request again.
  private struct Keeping: PerCallStep {
    let kept = Shared<[URL: HTTPResponse]>([:])

    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      if let response = kept.withLock({ $0[request.url] }) { return response }
      let response = try await next(request)
      kept.withLock { $0[request.url] = response }
      return response
    }
  }

  /// Shares the first response with other calls before it returns it.
  private struct Sharing: PerCallStep {
    let kept = Shared<HTTPResponse?>(nil)
    let isShared = Gate()
    let mayReturn = Gate()

    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      if let response = kept.withLock({ $0 }) { return response }
      let response = try await next(request)
      kept.withLock { $0 = response }
      isShared.open()
      await mayReturn.wait()
      return response
    }
  }

  /// Returns the last good response instead of a server error.
  private struct LastGood: PerAttemptStep {
    let kept = Shared<HTTPResponse?>(nil)

    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      if response.status.isServerFailure, let kept = kept.withLock({ $0 }) { return kept }
      kept.withLock { $0 = response }
      return response
    }
  }

  @Test func `downloads that share a response each get their file`() async throws {
    let step = Sharing()
    let shop = VirtualShop {
      $0.perCallSteps = [step]
    } answer: { _, request, _ in
      .text("content", for: request)
    }
    try await withFolder { folder in
      let (a, b) = (folder.appendingPathComponent("a"), folder.appendingPathComponent("b"))
      let first = Task { try await shop.task().download(to: a) }
      await step.isShared.wait()
      _ = try await shop.task().download(to: b)
      #expect(!FileManager.default.fileExists(atPath: a.path))
      step.mayReturn.open()
      _ = try await first.value
      for file in [a, b] { #expect(try String(contentsOf: file, encoding: .utf8) == "content") }
    }
  }

  @Test(arguments: [true, false]) func `a response kept from a download can't be downloaded again`(
    isPerCall: Bool
  ) async throws {
    let shop = VirtualShop {
      $0.retryPolicy = .never
      if isPerCall { $0.perCallSteps = [Keeping()] } else { $0.perAttemptSteps = [LastGood()] }
    } answer: { number, request, _ in
      number == 1 ? .text("content", for: request) : .unavailable(request)
    }
    try await withFolder { folder in
      let (a, b) = (folder.appendingPathComponent("a"), folder.appendingPathComponent("b"))
      _ = try await shop.task().download(to: a)
      let error = await taskError { _ = try await shop.task().download(to: b) }
      #expect(error?.code == .bodyConsumed)
      #expect(try files(in: folder) == ["a"])
    }
  }

  private struct Strict: ServerTask {
    struct Unsigned: Error {}
    let path = "widgets"
    func verify(_ response: HTTPResponse) throws { throw Unsigned() }
  }

  @Test func `verify is called for a response kept from a download`() async throws {
    let shop = VirtualShop {
      $0.perCallSteps = [Keeping()]
    } answer: { _, request, _ in
      .text("content", for: request)
    }
    try await withFolder { folder in _ = try await shop.task().download(to: folder.appendingPathComponent("a")) }
    await #expect(throws: Strict.Unsigned.self) { try await Strict().on(shop.server).downloadData() }
    #expect(shop.sentCount == 1)
  }

  @Test func `a kept 206 is checked against the range of each call`() async throws {
    let shop = VirtualShop {
      $0.perCallSteps = [Keeping()]
      $0.retryPolicy = .never
    } answer: { _, request, _ in
      .text("012", ["Content-Range": "bytes 0-2/10"], status: 206, for: request)
    }
    let range = { (positions: Range<Int>) in shop.task().range(ByteRange(positions)) }
    #expect(try await range(0..<3).downloadData() == Data("012".utf8))
    #expect(try await range(0..<3).downloadData() == Data("012".utf8))
    #expect(await taskError { _ = try await range(5..<8).downloadData() }?.code == .badStatus)
    #expect(await taskError { _ = try await shop.task().downloadData() }?.code == .badStatus)
    #expect(shop.sentCount == 1)
  }

  @Test func `an old response that a step returns is not stored as a new one`() async throws {
    let shop = CachedShop {
      $0.perAttemptSteps = [LastGood()]
    } answer: { number, request in
      number == 1 ? .text("old", [.cacheControl: "max-age=2"], for: request) : .unavailable(request)
    }
    for count in 1...3 {
      #expect(try await shop.get().text == "old")
      #expect(shop.sentCount == count)
      shop.clock.advance(by: .seconds(3))
    }
    let response = try await shop.task().response().response
    #expect(response.request == nil && response.cacheStatus?.isStored == false)
  }

  @Test func `a response that a step changes keeps its request`() async throws {
    struct Changing: PerAttemptStep, PerCallStep {
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var response = try await next(request)
        response.headers["X-Changed"] = "1"
        response.body = HTTPResponseBody(Data(try await response.body.collect().reversed()))
        return response
      }
    }
    let shop = CachedShop {
      $0.perAttemptSteps = [Changing()]
      $0.perCallSteps = [Changing()]
    } answer: { _, request in
      .text("abc", [.cacheControl: "max-age=60"], for: request)
    }
    let first = try await shop.task().response()
    #expect(first.text == "abc" && first.response.request?.url == first.response.url)
    #expect(try await shop.get().text == "abc")
    #expect(shop.sentCount == 1, "the changed response is stored")
  }

  /// Creates a server that challenges requests without `Authorization`, and notes the hosts of the others.
  private func challengingShop(
    _ signed: Shared<[String]>, configure: (inout ServerConfiguration) -> Void
  ) -> VirtualShop {
    VirtualShop(configure: configure) { _, request, _ in
      if request.headers.contains(.authorization) {
        signed.withLock { $0.append(request.url.host() ?? "") }
        return .ok(request)
      }
      let challenge = #"Digest realm="r", nonce="n", qop="auth", algorithm=SHA-256"#
      return .status(401, headers: ["WWW-Authenticate": challenge], for: request)
    }
  }

  @Test(arguments: [true, false]) func `a step's request to another origin does not get the Digest credential`(
    isNew: Bool
  ) async throws {
    struct AskingMirror: PerAttemptStep {
      let mirror: URL
      let isNew: Bool
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var first = isNew ? HTTPRequest(.get, mirror) : request
        first.url = mirror
        let response = try await next(first)
        return response.status == .ok ? response : try await next(request)
      }
    }
    let signed = Shared<[String]>([])
    let shop = challengingShop(signed) {
      $0.perAttemptSteps = [AskingMirror(mirror: .known("https://mirror.test/widgets"), isNew: isNew)]
      $0.preflight = { _, request in request.options.digest = Credential(user: "ada", password: "secret") }
    }
    #expect(try await shop.task().run().status == .ok)
    #expect(signed.withLock { $0 } == ["shop.test"])
  }

  @Test func `a request of a response that a step resends to another origin loses the Digest credential`() async throws
  {
    struct Mirroring: PerAttemptStep {
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let response = try await next(request)
        guard var copy = response.request else { return response }
        copy.url = .known("https://mirror.test/widgets")
        copy.headers.remove(.authorization)
        return try await next(copy)
      }
    }
    let signed = Shared<[String]>([])
    let shop = challengingShop(signed) {
      $0.perAttemptSteps = [Mirroring()]
      $0.authentication = .digest(user: "ada", password: "secret")
      $0.retryPolicy = .never
    }
    #expect(await taskError { _ = try await shop.task().run() }?.status == .unauthorized)
    #expect(signed.withLock { $0 } == ["shop.test"])
  }

  @Test func `a response does not get the redirects of a step's other request`() async throws {
    struct Auditing: PerAttemptStep {
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let response = try await next(request)
        _ = try await next(HTTPRequest(.get, .known("https://shop.test/audit")))
        return response
      }
    }
    let shop = VirtualShop {
      $0.perAttemptSteps = [Auditing()]
    } answer: { _, request, _ in
      request.url.path() == "/audit"
        ? .status(.found, headers: [.location: "/moved"], for: request) : .text("content", for: request)
    }
    #expect(try await shop.task().run().redirects.isEmpty)
  }
}
