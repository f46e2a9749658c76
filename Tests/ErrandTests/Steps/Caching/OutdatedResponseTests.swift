import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// An older version never replaces a newer one: not in the cache, and not in a file.
@Suite(.timeLimit(.minutes(1))) struct OutdatedResponseTests {
  /// A body without a known length.
  private static func chunked(_ text: String, _ size: Int) -> HTTPResponseBody {
    let (stream, continuation) = AsyncThrowingStream<Data, any Error>.makeStream()
    continuation.yield(Data(text.utf8))
    continuation.yield(Data(count: size))
    continuation.finish()
    return HTTPResponseBody(StreamSource(stream))
  }

  /// Creates a server whose second response is too large for its cache.
  private func shop() -> CachedShop {
    CachedShop(MemoryCache(byteLimit: 40_000)) { number, request in
      let headers: HTTPHeaders = [.cacheControl: "max-age=60, stale-if-error=600", .eTag: "\"\(number)\""]
      guard number <= 2 else { return .status(.serviceUnavailable, for: request) }
      return HTTPResponse(
        url: request.url, headers: headers, body: Self.chunked("\(number)", number == 1 ? 10 : 20_000))
    }
  }

  @Test func `a response that is too large for the cache removes the older one`() async throws {
    let shop = shop()
    #expect(try await shop.task().downloadData().first == UInt8(ascii: "1"))
    #expect(try await shop.task().caching(.reload).downloadData().first == UInt8(ascii: "2"))
    #expect(await taskError { _ = try await shop.task().downloadData() }?.status == .serviceUnavailable)
  }

  @Test func `a stream that is too large for the cache removes the older response`() async throws {
    let shop = shop()
    _ = try await shop.task().downloadData()
    for try await _ in try await shop.task().caching(.reload).stream().body {}
    #expect(await taskError { _ = try await shop.task().downloadData() }?.status == .serviceUnavailable)
  }

  @Test func `a failing server does not replace a newer file with an older stored response`() async throws {
    let shop = shop()
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      _ = try await shop.task().download(to: file, when: .changed)
      _ = try await shop.task().caching(.reload).download(to: file, when: .changed)
      _ = await taskError { _ = try await shop.task().download(to: file, when: .changed) }
      #expect(try Data(contentsOf: file).first == UInt8(ascii: "2"))
    }
  }

  @Test func `a failing server does not replace a downloaded file with the bundled one`() async throws {
    let isDown = Shared(false)
    let shop = VirtualShop {
      $0.retryPolicy = .never
    } answer: { _, request, _ in
      isDown.withLock { $0 } ? .unavailable(request) : .text("new", [.eTag: "\"1\""], for: request)
    }
    try await withFolder { folder in
      let (bundled, file) = (folder.appendingPathComponent("bundled"), folder.appendingPathComponent("file"))
      try Data("old".utf8).write(to: bundled)
      let task = shop.task().preloaded(from: bundled)
      _ = try await task.download(to: file, when: .changed)
      isDown.withLock { $0 = true }
      #expect(await taskError { _ = try await task.download(to: file, when: .changed) }?.status == .serviceUnavailable)
      #expect(try String(contentsOf: file, encoding: .utf8) == "new")
    }
  }

  /// Creates a server that moves `widgets` to `moved`.
  private func movingShop(hasCache: Bool, isMoved: Shared<Bool>) -> VirtualShop {
    VirtualShop {
      if hasCache { $0.cache = MemoryCache() }
    } answer: { _, request, _ in
      if isMoved.withLock({ $0 }), request.url.path() == "/widgets" {
        return .status(.movedPermanently, headers: [.location: "/moved"], for: request)
      }
      let headers: HTTPHeaders = [.eTag: "\"1\"", .cacheControl: "max-age=0"]
      return request.headers[.ifNoneMatch] == "\"1\""
        ? .status(.notModified, headers: headers, for: request) : .text("content", headers, for: request)
    }
  }

  @Test(arguments: [false, true]) func `a file that has moved within its origin is downloaded again`(
    hasCache: Bool
  ) async throws {
    let isMoved = Shared(false)
    let shop = movingShop(hasCache: hasCache, isMoved: isMoved)
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      _ = try await shop.task().download(to: file, when: .changed)
      isMoved.withLock { $0 = true }
      for _ in 0..<2 {
        let response = try await shop.task().download(to: file, when: .changed)
        #expect(response.status == .ok && !response.isUnchanged)
      }
    }
    #expect(shop.sentCount == 5)
  }

  @Test func `a write keeps its condition after a redirect within its origin`() async throws {
    let seen = Shared<[String?]>([])
    let shop = VirtualShop { _, request, _ in
      seen.withLock { $0.append(request.headers[.ifNoneMatch]) }
      return request.url.path() == "/widgets"
        ? .status(.temporaryRedirect, headers: [.location: "/moved"], for: request) : .ok(request)
    }
    _ = try await shop.task(method: .put).header("If-None-Match", "*").run()
    #expect(seen.withLock { $0 } == ["*", "*"])
  }

  @Test func `a range is not compared with the version of the entire file`() async throws {
    let shop = VirtualShop { _, request, _ in
      if request.headers.contains(.ifNoneMatch) {
        return .status(.notModified, headers: [.eTag: "\"1\""], for: request)
      }
      guard request.headers.contains(.range) else { return .text("content", [.eTag: "\"1\""], for: request) }
      return .text("cont", [.eTag: "\"1\"", "Content-Range": "bytes 0-3/7"], status: 206, for: request)
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      _ = try await shop.task().download(to: file, when: .changed)
      _ = try await shop.task().range(ByteRange(0..<4)).download(to: file, when: .changed)
      #expect(try String(contentsOf: file, encoding: .utf8) == "cont")
    }
  }

  @Test func `a file of another language is not current after an open range`() async throws {
    let conditions = Shared<[String?]>([])
    let shop = VirtualShop { _, request, _ in
      conditions.withLock { $0.append(request.headers[.ifNoneMatch]) }
      let headers: HTTPHeaders = [.eTag: "\"1\"", .vary: "Accept-Language"]
      return .text(request.headers[.acceptLanguage] ?? "none", headers, for: request)
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      let german = shop.task().range(ByteRange(0...)).header("Accept-Language", "de")
      _ = try await german.download(to: file, when: .changed)
      #expect(try await !shop.task().download(to: file, when: .changed).isUnchanged)
      #expect(try String(contentsOf: file, encoding: .utf8) != "de")
    }
    #expect(conditions.withLock { $0 } == [nil, nil])
  }

  @Test(arguments: [200, 203]) func `throws if the server sends the entire content instead of the range`(
    status: Int
  ) async throws {
    let shop = VirtualShop { _, request, _ in .text("content", status: HTTPStatus(status), for: request) }
    let error = await taskError { _ = try await shop.task().range(ByteRange(0..<4)).downloadData() }
    #expect(error?.code == .badStatus && error?.reason.contains("does not support Range") == true)
  }

  @Test func `a file is downloaded again in the language that a step selects`() async throws {
    struct Speaking: PerAttemptStep {
      let language: Shared<String>
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        request.headers[.acceptLanguage] = language.withLock { $0 }
        return try await next(request)
      }
    }
    let language = Shared("de")
    let shop = VirtualShop {
      $0.perAttemptSteps = [Speaking(language: language)]
    } answer: { _, request, _ in
      let headers: HTTPHeaders = [.lastModified: "Tue, 01 Sep 2026 10:00:00 GMT", .vary: "Accept-Language"]
      if request.headers.contains(.ifModifiedSince) { return .status(.notModified, headers: headers, for: request) }
      return .text(request.headers[.acceptLanguage] ?? "none", headers, for: request)
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      for (wanted, isUnchanged) in [("de", false), ("fr", false), ("fr", true), ("de", false)] {
        language.withLock { $0 = wanted }
        let response = try await shop.task().download(to: file, when: .changed)
        #expect(response.isUnchanged == isUnchanged)
        #expect(try String(contentsOf: file, encoding: .utf8) == wanted)
      }
    }
  }

  @Test(arguments: ["header", "preflight"]) func `a Range field is not compared with the version of the entire file`(
    place: String
  ) async throws {
    let isPart = Shared(false)
    let shop = VirtualShop {
      $0.preflight = { _, request in
        if place == "preflight", isPart.withLock({ $0 }) { request.headers[.range] = "bytes=0-3" }
      }
    } answer: { _, request, _ in
      if request.headers.contains(.ifNoneMatch) { return .status(.notModified, for: request) }
      guard request.headers.contains(.range) else { return .text("content", [.eTag: "\"1\""], for: request) }
      return .text("cont", ["Content-Range": "bytes 0-3/7"], status: 206, for: request)
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      _ = try await shop.task().download(to: file, when: .changed)
      isPart.withLock { $0 = true }
      let task = place == "header" ? shop.task().header(.range, "bytes=0-3") : shop.task()
      _ = try await task.download(to: file, when: .changed)
      #expect(try String(contentsOf: file, encoding: .utf8) == "cont")
    }
  }

  @Test(arguments: [true, false]) func `an older response of another cache does not replace a newer file`(
    isFresh: Bool
  ) async throws {
    let version = Shared(1)
    let shops = (0..<2).map { _ in
      CachedShop { _, request in
        let version = version.withLock { $0 }
        if version == 3 { return .status(.serviceUnavailable, for: request) }
        let headers: HTTPHeaders = [
          .eTag: "\"\(version)\"", .cacheControl: "stale-if-error=600, max-age=\(isFresh ? 600 : 0)",
        ]
        if request.headers[.ifNoneMatch] == headers[.eTag] {
          return .status(.notModified, headers: headers, for: request)
        }
        return .text("\(version)", headers, for: request)
      }
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      _ = try await shops[0].task().download(to: file, when: .changed)
      version.withLock { $0 = 2 }
      _ = try await shops[1].task().download(to: file, when: .changed)
      if !isFresh { version.withLock { $0 = 3 } }
      let error = await taskError {
        let response = try await shops[0].task().download(to: file, when: .changed)
        #expect(response.isUnchanged)
      }
      #expect(error?.status == (isFresh ? nil : .serviceUnavailable))
      #expect(try String(contentsOf: file, encoding: .utf8) == "2")
    }
  }

  /// Answers `.changed` downloads of version 1, and fails the second request after it has called `inBetween`.
  private func flakyShop(_ inBetween: @escaping @Sendable () throws -> Void) -> (VirtualShop, Shared<[String]>) {
    let seen = Shared<[String]>([])
    let shop = VirtualShop(.autoAdvancing) {
      $0.retryPolicy = .fixed(retries: 1, delay: .zero)
    } answer: { number, request, _ in
      seen.withLock { $0.append(request.headers[.ifNoneMatch] ?? "-") }
      if number == 2 {
        try inBetween()
        return .unavailable(request)
      }
      return request.headers[.ifNoneMatch] == "\"1\""
        ? .status(.notModified, for: request) : .text("server", [.eTag: "\"1\""], for: request)
    }
    return (shop, seen)
  }

  @Test(arguments: [true, false]) func `a retry downloads a file that was removed or edited in the meantime`(
    isRemoved: Bool
  ) async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      let (shop, seen) = flakyShop {
        if isRemoved {
          try FileManager.default.removeItem(at: file)
        } else {
          try Data("edited by the app".utf8).write(to: file)
        }
      }
      _ = try await shop.task().download(to: file, when: .changed)
      #expect(try await !shop.task().download(to: file, when: .changed).isUnchanged)
      #expect(try String(contentsOf: file, encoding: .utf8) == "server")
      #expect(seen.withLock { $0 } == ["-", "\"1\"", "-"])
    }
  }

  @Test(arguments: [true, false]) func `a step's other request does not change whether the file is current`(
    isFirst: Bool
  ) async throws {
    struct Auditing: PerCallStep {
      let isFirst: Bool
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let audit = HTTPRequest(.post, .known("https://shop.test/audit"))
        if isFirst { _ = try await next(audit) }
        let response = try await next(request)
        if !isFirst { _ = try await next(audit) }
        return response
      }
    }
    let shop = CachedShop {
      $0.perCallSteps = [Auditing(isFirst: isFirst)]
    } answer: { _, request in
      .text("content", [.eTag: "\"1\"", .cacheControl: "max-age=60"], for: request)
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      for isUnchanged in [false, true] {
        let response = try await shop.task().download(to: file, when: .changed)
        #expect(response.isUnchanged == isUnchanged)
      }
    }
  }

  @Test func `a signature covers the file's conditions`() async throws {
    struct Signing: Authenticator {
      func apply(_ token: String, to request: inout HTTPRequest) throws {
        request.headers["X-Signature"] = Self.signature(of: request)
      }
      func refresh(_ token: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
        "key"
      }
      static func signature(of request: HTTPRequest) -> String {
        [HTTPHeaderName.acceptLanguage, .ifNoneMatch].map { request.headers[$0] ?? "-" }.joined(separator: " ")
      }
    }
    struct Speaking: PerAttemptStep {
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        request.headers[.acceptLanguage] = "de"
        return try await next(request)
      }
    }
    let shop = VirtualShop {
      $0.authentication = .custom(Signing())
      $0.perAttemptSteps = [Speaking()]
    } answer: { _, request, _ in
      guard request.headers["X-Signature"] == Signing.signature(of: request) else {
        return .status(.forbidden, for: request)
      }
      let headers: HTTPHeaders = [.eTag: "\"1\"", .vary: "Accept-Language"]
      return request.headers.contains(.ifNoneMatch)
        ? .status(.notModified, headers: headers, for: request) : .text("de", headers, for: request)
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      for isUnchanged in [false, true] {
        let response = try await shop.task().download(to: file, when: .changed)
        #expect(response.isUnchanged == isUnchanged)
      }
    }
  }

  @Test func `a step can remove the file's conditions`() async throws {
    struct Forcing: PerAttemptStep {
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        request.headers.remove(.ifNoneMatch)
        return try await next(request)
      }
    }
    let shop = VirtualShop {
      $0.perAttemptSteps = [Forcing()]
    } answer: { _, request, _ in
      request.headers.contains(.ifNoneMatch)
        ? .status(.notModified, for: request) : .text("content", [.eTag: "\"1\""], for: request)
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      for _ in 0..<2 {
        let response = try await shop.task().download(to: file, when: .changed)
        #expect(!response.isUnchanged)
      }
    }
  }

  @Test func `a stored response with the file's entity tag keeps the file, even if only one has a date`() async throws {
    let shop = CachedShop { number, request in
      let headers: HTTPHeaders = [.eTag: "\"1\"", .cacheControl: "max-age=0, stale-if-error=600"]
      switch number {
      case 1: return .text("content", headers, for: request)
      case 2:
        var dated = headers
        dated[.lastModified] = "Tue, 01 Sep 2026 10:00:00 GMT"
        return .status(.notModified, headers: dated, for: request)
      default: return .unavailable(request)
      }
    }
    try await withFolder { folder in
      let file = folder.appendingPathComponent("file")
      _ = try await shop.task().download(to: file, when: .changed)
      _ = try await shop.task().download()
      #expect(try await shop.task().download(to: file, when: .changed).isUnchanged)
    }
  }
}
