import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Requests and responses that a step or redirect policy creates or copies.
@Suite(.timeLimit(.minutes(1))) struct RebuiltMessageTests {
  /// Returns a copy of the response.
  private struct Rebuilding: PerCallStep, PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      return HTTPResponse(response.status, url: response.url, headers: response.headers, body: response.body)
    }
  }

  @Test(arguments: [nil, true, false], [false, true])
  func `rejects a range that was not requested, even if a step rebuilds the response`(isPerCall: Bool?, isRanged: Bool)
    async throws
  {
    let shop = VirtualShop(
      configure: {
        if isPerCall == true { $0.perCallSteps = [Rebuilding()] }
        if isPerCall == false { $0.perAttemptSteps = [Rebuilding()] }
      },
      answer: { _, request, _ in
        .text("who", [.contentRange: "bytes 0-2/100"], status: 206, for: request)
      })
    let task = isRanged ? shop.task().range(ByteRange(3..<6)) : shop.task()
    let result = await Task { try await task.data() }.result
    #expect((try? result.get()) == nil, "\(result)")
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      let download = await Task { try await task.download(to: file) }.result
      #expect((try? download.get()) == nil)
    }
  }

  private struct NewRequest: PerCallStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      try await next(HTTPRequest(.get, request.url))
    }
  }

  @Test(arguments: [false, true]) func `a retry keeps the server's options if a step creates the request`(
    isShared: Bool
  ) async throws {
    let seen = Shared<[TransferOptions]>([])
    let pins: PublicKeyPins = ["shop.test": ["sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]]
    let shop = VirtualShop(
      .autoAdvancing,
      configure: {
        $0.perCallSteps = [NewRequest()]
        $0.addressPolicy = .publicOnly
        $0.allowsExpensiveNetworkAccess = false
        $0.defaultTimeout = .seconds(7)
        $0.pins = pins
        $0.coalescesRequests = isShared
        $0.retryPolicy = .fixed(retries: 1, delay: .seconds(1))
      },
      answer: { number, request, _ in
        seen.withLock { $0.append(request.options) }
        return number == 1 ? .unavailable(request) : .ok(request)
      })
    _ = try await shop.task().data()
    let options = seen.withLock { $0 }
    #expect(options.count == 2)
    for option in options {
      #expect(!option.addressPolicy.allowsAll)
      #expect(!option.allowsExpensiveNetworkAccess)
      #expect(option.timeouts.attempt == .seconds(7))
      #expect(option.pins == pins)
    }
  }

  private struct CopiedRequest: PerCallStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      try await next(HTTPRequest(.get, request.url, headers: request.headers))
    }
  }

  @Test(arguments: [false, true]) func `a retry does not reach a forbidden address, even if a step creates the request`(
    isCreatedByStep: Bool
  ) async throws {
    let mock = try MockServer()
    defer { mock.stop() }
    mock.route(.get, "/widgets/7", answer: .text("secret"))
    let server = mock.client {
      $0.addressPolicy = .publicOnly
      $0.retryPolicy = .decided { $0.attempts.count < 2 ? .retry(after: .zero) : .giveUp }
      if isCreatedByStep { $0.perCallSteps = [CopiedRequest()] }
    }
    let result = await Task { try await CachedTask(path: "widgets/7").on(server).download() }.result
    #expect((try? result.get()) == nil, "\(result)")
    #expect(mock.requestCount == 0)
  }

  private struct Ann: Authenticator {
    func storedToken() async throws -> String? { "hidden" }
    func apply(_ token: String, to request: inout HTTPRequest) { request.headers["X-Ann"] = token }
    func refresh(_ token: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
      nil
    }
  }

  @Test(arguments: [false, true])
  func `does not send a token to another origin, even if a redirect policy copies the request`(
    copies: Bool
  ) async throws {
    let seen = Shared<[(String, String?)]>([])
    let shop = VirtualShop(
      configure: {
        $0.authentication = .custom(Ann())
        $0.redirectPolicy = .decide { _, next in
          copies ? HTTPRequest(next.method, next.url, headers: next.headers) : next
        }
      },
      answer: { number, request, _ in
        seen.withLock { $0.append((request.url.host() ?? "", request.headers["X-Ann"])) }
        switch number {
        case 1: return .status(302, headers: [.location: "/b"], for: request)
        case 2: return .status(302, headers: [.location: "https://evil.test/"], for: request)
        default: return .ok(request)
        }
      })
    try await shop.task().run()
    let last = try #require(seen.withLock { $0.last })
    #expect(last.0 == "evil.test" && last.1 == nil, "\(seen.withLock { $0 })")
  }

  private struct ToMirror: PerAttemptStep {
    let copies: Bool
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let url = URL.known("https://mirror.test/")
      if copies { return try await next(HTTPRequest(.get, url, headers: request.headers)) }
      var request = request
      request.url = url
      return try await next(request)
    }
  }

  @Test(arguments: [false, true])
  func `does not send stored cookies to another host, even if a step copies the request`(copies: Bool) async throws {
    let seen = Shared<[(String, String?)]>([])
    let shop = VirtualShop(
      configure: {
        $0.cookiePolicy = .perServer
        $0.standardHeaders["X-Own"] = "1"
      },
      answer: { number, request, _ in
        seen.withLock { $0.append((request.url.host() ?? "", request.headers[.cookie])) }
        return .status(.ok, headers: number == 1 ? [.setCookie: "sid=hidden"] : [:], for: request)
      })
    try await shop.task().run()
    await shop.server.update { $0.perAttemptSteps = [ToMirror(copies: copies)] }
    try await shop.task().run()
    let last = try #require(seen.withLock { $0.last })
    #expect(last.0 == "mirror.test" && last.1 == nil, "\(seen.withLock { $0 })")
  }

  private struct CopyPerAttempt: PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      try await next(HTTPRequest(request.method, request.url, headers: request.headers))
    }
  }

  @Test(arguments: [false, true]) func `sends a redirect's new cookie, even if a step copies the request`(copies: Bool)
    async throws
  {
    let seen = Shared<[String?]>([])
    let shop = VirtualShop(
      configure: {
        $0.cookiePolicy = .perServer
        if copies { $0.perAttemptSteps = [CopyPerAttempt()] }
      },
      answer: { number, request, _ in
        seen.withLock { $0.append(request.headers[.cookie]) }
        switch number {
        case 1: return .status(.ok, headers: [.setCookie: "sid=1"], for: request)
        case 2: return .status(302, headers: [.location: "/b", .setCookie: "sid=2"], for: request)
        default: return .ok(request)
        }
      })
    try await shop.task().run()
    try await shop.task().run()
    #expect(seen.withLock { $0 } == [nil, "sid=1", "sid=2"], "\(seen.withLock { $0 })")
  }

  private struct Personal: PayloadDownloadingTask {
    typealias DownloadPayload = String
    let path = "widgets/7"
    let user: String
    func preflight(_ request: inout HTTPRequest) async throws {
      request.headers["X-Ann"] = user
      request.options.credentialHeaders.insert("X-Ann")
    }
  }

  @Test(arguments: [false, true])
  func `does not share a cached response between users, even if a step copies the request`(
    copies: Bool
  ) async throws {
    let shop = CachedShop(
      configure: { if copies { $0.perCallSteps = [CopiedRequest()] } },
      answer: { _, request in
        .text("private to \(request.headers["X-Ann"] ?? "")", [.cacheControl: "max-age=1000"], for: request)
      })
    #expect(try await Personal(user: "ann").on(shop.server).download() == "private to ann")
    #expect(try await Personal(user: "bob").on(shop.server).download() == "private to bob")
  }
}
