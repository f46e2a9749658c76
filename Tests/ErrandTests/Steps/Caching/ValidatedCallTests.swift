import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// How a 304 or a HEAD response changes a stored response.
@Suite(.timeLimit(.minutes(1))) struct ValidatedCallTests {
  /// Authenticates the second request as another user.
  private struct Meddling: PerAttemptStep {
    let count = Shared(0)

    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      var request = request
      let number = count.withLock { count in
        count += 1
        return count
      }
      if number == 2 { request.headers[.authorization] = "Bearer bob" }
      return try await next(request)
    }
  }

  // RFC 9111 §4.2.3: response_delay = response_time - request_time.
  @Test func `the age of a 304 includes the response delay`() async throws {
    let gate = Gate()
    let shop = CachedShop { number, request in
      guard request.headers[.ifNoneMatch] != nil else {
        return .text("\(number)", [.eTag: "\"1\"", .cacheControl: "max-age=0"], for: request)
      }
      if number == 2 { await gate.wait() }
      return .status(
        .notModified, headers: [.eTag: "\"1\"", .age: "58", .cacheControl: "max-age=60"], for: request)
    }
    _ = try await shop.get()
    let call = Task { try await shop.get() }
    #expect(await eventually { shop.sentCount == 2 })
    shop.clock.advance(by: .seconds(4))
    gate.open()
    #expect(try await call.value == ("1", "errand; fwd=stale; fwd-status=304; ttl=-2"))
    #expect(try await shop.get() == ("1", "errand; fwd=stale; fwd-status=304; ttl=2"))
    #expect(try await shop.get() == ("1", "errand; hit; ttl=2"))
  }

  // RFC 9111 §4.1: the selecting fields are those of the request that validated the response.
  @Test func `applies a Vary that first appears in a 304`() async throws {
    let shop = CachedShop { number, request in
      let language = request.headers["Accept-Language"] ?? "none"
      guard request.headers[.ifNoneMatch] == "\"de\"", language == "de" else {
        var headers: HTTPHeaders = [.eTag: "\"\(language)\"", .cacheControl: "max-age=0"]
        if language != "de" { headers[.vary] = "Accept-Language" }
        return .text("in \(language)", headers, for: request)
      }
      return .status(
        .notModified, headers: [.eTag: "\"de\"", .vary: "Accept-Language", .cacheControl: "max-age=60"], for: request)
    }
    let german = shop.task().header("Accept-Language", "de")
    #expect(try await shop.get(german).text == "in de")
    #expect(try await shop.get(german) == ("in de", "errand; fwd=stale; fwd-status=304; ttl=60"))
    #expect(try await shop.get() == ("in none", "errand; fwd=vary-miss; stored"))
    #expect(try await shop.get(german) == ("in de", "errand; hit; ttl=60"))
  }

  @Test func `removes a stored response if a 304 has Vary *`() async throws {
    let shop = CachedShop { number, request in
      guard request.headers[.ifNoneMatch] != nil else {
        return .text("\(number)", [.eTag: "\"1\"", .cacheControl: "max-age=0"], for: request)
      }
      return .status(.notModified, headers: [.eTag: "\"1\"", .vary: "*", .cacheControl: "max-age=60"], for: request)
    }
    _ = try await shop.get()
    #expect(try await shop.get().text == "1")
    #expect(await shop.cache.entries(for: .widget()).isEmpty)
    #expect(try await shop.get() == ("3", "errand; fwd=uri-miss; stored"))
  }

  @Test func `does not send an entity tag that is too large`() async throws {
    let shop = CachedShop([.eTag: "\"\(String(repeating: "e", count: 61_500))\"", .cacheControl: "max-age=0"])
    for number in 1...3 { #expect(try await shop.get().text == "\(number)") }
    #expect(shop.requests.allSatisfy { !$0.headers.contains(.ifNoneMatch) })
  }

  @Test(arguments: ["abc", "W/abc", "\"abc"]) func `sends a malformed entity tag back unchanged`(tag: String)
    async throws
  {
    let shop = CachedShop { number, request in
      guard request.headers[.ifNoneMatch] == tag else {
        return .text("\(number)", [.eTag: tag, .cacheControl: "max-age=0"], for: request)
      }
      return .status(.notModified, headers: [.eTag: tag, .cacheControl: "max-age=60"], for: request)
    }
    _ = try await shop.get()
    #expect(try await shop.get() == ("1", "errand; fwd=stale; fwd-status=304; ttl=60"))
    #expect(shop.requests.allSatisfy { !$0.headers.contains(.ifRange) && !$0.headers.contains(.ifMatch) })
  }

  @Test func `evaluates a caller's condition against a stored malformed entity tag`() async throws {
    let shop = CachedShop([.eTag: "abc", .cacheControl: "max-age=60"])
    _ = try await shop.get()
    let answer = try await shop.task().header(.ifNoneMatch, "abc").run()
    #expect(answer.status == .notModified && shop.sentCount == 1)
  }

  @Test(arguments: [true, false]) func `maximumBodySize applies to a stored body`(isOnDisk: Bool) async throws {
    try await withFolder { folder in
      let cache: any CacheStore = isOnDisk ? try DiskCache(at: folder) : MemoryCache()
      let shop = CachedShop([.cacheControl: "max-age=60"], cache: cache)
      _ = try await shop.get()
      await shop.server.update { $0.maximumBodySize = 0 }
      let error = await taskError { _ = try await shop.get() }
      #expect(error?.code == .bodyTooLarge && shop.sentCount == 1)
    }
  }

  // RFC 9110 §14.4: "the Content-Range header field (...) has no meaning" with a 200.
  @Test func `stores a 200 with Content-Range`() async throws {
    let shop = CachedShop([.contentRange: "bytes 0-0/1", .cacheControl: "max-age=60"])
    #expect(try await shop.get().text == "1")
    #expect(try await shop.get() == ("1", "errand; hit; ttl=60"))
  }

  @Test(arguments: ["aws-chunked", "identity", "utf-8"])
  func `returns a range of a stored body with an unknown content coding`(coding: String) async throws {
    let shop = CachedShop { _, request in
      .text("0123456789", [.contentEncoding: coding, .cacheControl: "max-age=60"], for: request)
    }
    _ = try await shop.get()
    #expect(try await shop.task().range(ByteRange(2..<4)).downloadData() == Data("23".utf8))
    #expect(try await shop.task().header(.acceptEncoding, coding).downloadData() == Data("0123456789".utf8))
    #expect(shop.sentCount == 1)
  }

  @Test func `ignores a 304 to another user's request`() async throws {
    let shop = CachedShop(configure: { $0.perAttemptSteps = [Meddling()] }) { number, request in
      number == 2
        ? .status(.notModified, headers: [.eTag: "\"1\"", .cacheControl: "max-age=600", "X-Of": "bob"], for: request)
        : .text("\(number)", [.eTag: "\"1\"", .cacheControl: "max-age=1"], for: request)
    }
    _ = try await shop.get()
    shop.clock.advance(by: .seconds(10))
    #expect(try await shop.get() == ("3", "errand; fwd=stale; stored"))
    let entries = await shop.cache.entries(for: .widget())
    #expect(entries.count == 1 && entries.allSatisfy { !$0.response.headers.contains("X-Of") })
  }

  @Test func `ignores a HEAD response to another user's request`() async throws {
    let shop = CachedShop(configure: { $0.perAttemptSteps = [Meddling()] }) { number, request in
      number == 2
        ? .status(.ok, headers: [.cacheControl: "max-age=600", "X-Of": "bob"], for: request)
        : .text("\(number)", [.eTag: "\"1\"", .cacheControl: "max-age=1"], for: request)
    }
    _ = try await shop.get()
    shop.clock.advance(by: .seconds(10))
    _ = try await CachedTask(path: "widgets/7", httpMethod: .head).on(shop.server).run()
    let stored = try await shop.task("widgets/7", .cacheOnly).response()
    #expect(stored.text == "1" && !stored.headers.contains("X-Of") && shop.sentCount == 2)
  }
}
