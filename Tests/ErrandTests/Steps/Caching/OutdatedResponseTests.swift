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
}
