import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// How calls use their server's cache.
@Suite(.timeLimit(.minutes(1))) struct CachedCallTests {
  @Test func `returns a fresh response with its age, without sending a request`() async throws {
    let shop = CachedShop([.cacheControl: "max-age=60", "X-Own": "1"])
    #expect(try await shop.get() == ("1", "errand; fwd=uri-miss; stored"))
    shop.clock.advance(by: .seconds(10))
    let response = try await shop.task().response()
    #expect(response.text == "1" && response.status == .ok && response.headers["X-Own"] == "1")
    #expect(response.headers[.age] == "10" && response.headers[.cacheStatus] == "errand; hit; ttl=50")
    #expect(response.attempts.isEmpty && response.metrics.attemptCount == 0 && shop.sentCount == 1)
    #expect(shop.server.manager.runningCount == 0 && shop.events.isBalanced)
  }

  @Test func `stores nothing and adds no Cache-Status without a cache`() async throws {
    let stub = StubServer(.widget)
    for _ in 1...2 {
      let response = try await GetWidget().on(stub.server).response()
      #expect(!response.headers.contains(.cacheStatus))
    }
    #expect(stub.requests.count == 2)
    #expect(Caching.of(GetWidget().on(stub.server).plan, stub.server.snapshot) == nil)
  }

  @Test func `cacheStatus reports how the cache handled a call`() async throws {
    let shop = CachedShop([.cacheControl: "max-age=60", .eTag: "\"1\""])
    let first = try await PlainTask().on(shop.server).send()
    #expect(first.cacheStatus?.forward == .uriMiss && first.cacheStatus?.isStored == true)
    let second = try await shop.server.stream(PlainTask())
    #expect(second.cacheStatus?.isHit == true && second.cacheStatus?.timeLeft == .seconds(60))
    #expect(second.headers[.cacheStatus] == second.cacheStatus?.description)
    shop.clock.advance(by: .seconds(61))
    let third = try await PlainTask().on(shop.server).send()
    #expect(third.cacheStatus?.forward == .stale && shop.sentCount == 2)
    #expect(try await StubServer(.widget).server.response(GetWidget()).cacheStatus == nil)
  }

  @Test func `validates a stale response and merges the headers of the 304`() async throws {
    let shop = CachedShop { number, request in
      guard number > 1 else {
        return .text("one", [.eTag: "\"1\"", .cacheControl: "max-age=60", "X-A": "1", "X-B": "1"], for: request)
      }
      return .status(.notModified, headers: [.eTag: "\"1\"", .cacheControl: "max-age=30", "X-B": "2"], for: request)
    }
    _ = try await shop.get()
    shop.clock.advance(by: .seconds(61))
    let response = try await shop.task().response()
    #expect(shop.requests.last?.headers[.ifNoneMatch] == "\"1\"")
    #expect(response.text == "one" && response.status == .ok)
    #expect(response.headers["X-A"] == "1" && response.headers.values(for: "X-B") == ["2"])
    #expect(response.headers[.cacheStatus] == "errand; fwd=stale; fwd-status=304; ttl=30")
    // The 304 makes the response fresh again.
    shop.clock.advance(by: .seconds(29))
    #expect(try await shop.get() == ("one", "errand; hit; ttl=1"))
    shop.clock.advance(by: .seconds(1))
    _ = try await shop.get()
    #expect(shop.sentCount == 3)
    let moments = shop.events.moments()
    #expect(
      moments.contains("not served from the cache: stale") && moments.contains("the cached response is still valid"))
    #expect(moments.contains("served from the cache: errand; hit; ttl=1"))
  }

  @Test func `a 200 response to a validation replaces the stored response`() async throws {
    let shop = CachedShop { number, request in
      .text("\(number)", [.eTag: "\"\(number)\"", .cacheControl: "max-age=60"], for: request)
    }
    _ = try await shop.get()
    shop.clock.advance(by: .seconds(61))
    #expect(try await shop.get() == ("2", "errand; fwd=stale; stored"))
    #expect(try await shop.get() == ("2", "errand; hit; ttl=60"))
    #expect(await shop.cache.entries(for: .widget()).count == 1)
  }

  @Test func `ignores a 304 with another entity tag and requests the response again`() async throws {
    let shop = CachedShop { number, request in
      switch number {
      case 1: return .text("one", [.eTag: "\"1\""], for: request)
      case 2: return .status(.notModified, headers: [.eTag: "\"2\""], for: request)
      default: return .text("three", [.eTag: "\"3\""], for: request)
      }
    }
    _ = try await shop.get()
    #expect(try await shop.get().text == "three")
    #expect(shop.requests.map { $0.headers[.ifNoneMatch] } == [nil, "\"1\"", nil])
  }

  @Test func `evaluates a caller's condition on a fresh response and otherwise forwards the condition`() async throws {
    let shop = CachedShop { number, request in
      guard request.headers[.ifNoneMatch] != "\"9\"" else {
        return .status(.notModified, headers: [.eTag: "\"9\""], for: request)
      }
      return .text("\(number)", [.eTag: "\"\(number)\"", .cacheControl: "max-age=60"], for: request)
    }
    _ = try await shop.get()
    let same = try await shop.task().header(.ifNoneMatch, "\"1\"").run()
    #expect(same.status == .notModified && same.headers[.eTag] == "\"1\"" && shop.sentCount == 1)
    #expect(try await shop.task().header(.ifNoneMatch, "\"0\"").run().status == .ok && shop.sentCount == 1)
    shop.clock.advance(by: .seconds(61))
    let other = try await shop.task().header(.ifNoneMatch, "\"9\"").run()
    #expect(other.status == .notModified && shop.requests.last?.headers[.ifNoneMatch] == "\"9\"")
  }

  @Test func `stale-while-revalidate returns the stale response and validates it once for all calls`() async throws {
    let arrived = Gate()
    let shop = CachedShop { number, request in
      if number > 1 { await arrived.wait() }
      return .text("\(number)", [.cacheControl: "max-age=10, stale-while-revalidate=30"], for: request)
    }
    _ = try await shop.get()
    shop.clock.advance(by: .seconds(20))
    for _ in 1...5 { #expect(try await shop.get() == ("1", "errand; hit; ttl=-10")) }
    #expect(await eventually { shop.sentCount == 2 })
    arrived.open()
    #expect(try await eventually { try await shop.get().text == "2" })
    #expect(shop.sentCount == 2)
    #expect(await eventually { shop.server.manager.callCount == 0 && shop.events.isBalanced })
  }

  @Test func `sends no validators for a .neverRepeat call, because a 304 might not match`() async throws {
    let shop = CachedShop([.cacheControl: "max-age=10", .eTag: "\"1\""])
    _ = try await shop.get()
    shop.clock.advance(by: .seconds(20))
    #expect(try await shop.get(shop.task().idempotency(.neverRepeat)).text == "2")
    #expect(shop.requests.map { $0.headers[.ifNoneMatch] } == [nil, nil])
  }

  @Test func `stale-if-error returns a stale response after a server error or without a connection`() async throws {
    let failing = Shared(HTTPStatus(503))
    let shop = CachedShop { number, request in
      guard number > 1 else { return .text("1", [.cacheControl: "max-age=10, stale-if-error=30"], for: request) }
      let status = failing.withLock { $0 }
      if status == 0 { throw TaskError(.cannotConnect, "refused", phase: .connecting, wasNotSent: true) }
      return .text("no", status: status, for: request)
    }
    _ = try await shop.get()
    shop.clock.advance(by: .seconds(20))
    for code in [500, 502, 503, 504] {
      failing.withLock { $0 = HTTPStatus(code) }
      #expect(try await shop.get() == ("1", "errand; fwd=stale; fwd-status=\(code); ttl=-10; detail=stale-if-error"))
    }
    failing.withLock { $0 = 0 }
    #expect(try await shop.get() == ("1", "errand; fwd=stale; ttl=-10; detail=stale-if-error"))
    failing.withLock { $0 = 404 }
    #expect(await taskError { _ = try await shop.get() }?.status == .notFound)
    failing.withLock { $0 = 503 }
    shop.clock.advance(by: .seconds(21))
    #expect(await taskError { _ = try await shop.get() }?.status == 503)
  }

  @Test func `stale-if-error does not apply if the queue timeout expires`() async throws {
    let gate = Gate()
    let shop = CachedShop { number, request in
      if number == 2 { await gate.wait() }
      return .text("\(number)", [.cacheControl: "max-age=10, stale-if-error=600"], for: request)
    }
    await shop.server.manager.setLimits(ThrottleLimits(perHost: 1))
    _ = try await shop.get()
    shop.clock.advance(by: .seconds(20))
    let other = Task { try await shop.get("other") }
    #expect(await eventually { shop.sentCount == 2 })
    let call = Task { try await shop.get(shop.task().timeouts(Timeouts(queue: .seconds(3)))) }
    await shop.clock.sleepers(count: 1)
    shop.clock.advance(by: .seconds(3))
    #expect(await taskError { _ = try await call.value }?.timer == .queue)
    gate.open()
    _ = try await other.value
  }

  @Test(arguments: [HTTPStatus.notFound, 410]) func `a 404 or 410 removes the stored response`(status: HTTPStatus)
    async throws
  {
    let shop = CachedShop { number, request in
      switch number {
      case 1: .text("1", [.cacheControl: "max-age=10, stale-if-error=60"], for: request)
      case 2: .text("gone", [.cacheControl: "no-store"], status: status, for: request)
      default: .text("no", status: 503, for: request)
      }
    }
    _ = try await shop.get()
    shop.clock.advance(by: .seconds(20))
    #expect(await taskError { _ = try await shop.get() }?.status == status)
    #expect(await taskError { _ = try await shop.get() }?.status == 503, "the stale response is not served instead")
  }

  @Test func `stores a separate response per Vary value and credential`() async throws {
    let shop = CachedShop([.cacheControl: "max-age=60", .vary: "Accept"])
    func get(_ name: HTTPHeaderName, _ value: String) async throws -> (text: String, status: String) {
      try await shop.get(shop.task().header(name, value))
    }
    #expect(try await get("Accept", "a").text == "1")
    #expect(try await get("Accept", "b") == ("2", "errand; fwd=vary-miss; stored"))
    #expect(try await get("Accept", "a") == ("1", "errand; hit; ttl=60"))
    for name in ["Authorization", "Cookie", "X-Api-Key", "X-Session"] {
      let name = HTTPHeaderName(name)
      let first = try await get(name, "alice")
      #expect(first.status == "errand; fwd=uri-miss; stored")
      #expect(try await get(name, "bob").text != first.text)
      #expect(try await get(name, "alice").text == first.text)
    }
    #expect(shop.sentCount == 10)
  }

  @Test func `the cache's files contain none of the request's secrets`() async throws {
    try await withFolder { folder in
      let shop = CachedShop(try DiskCache(at: folder), configure: { $0.redaction = .none }) { _, request in
        .text("1", [.cacheControl: "max-age=60", .vary: "Authorization, X-Api-Key"], for: request)
      }
      let task = shop.task().header(.authorization, "Bearer hunter2").header("X-Api-Key", "hunter3")
        .query("token", "hunter4")
      _ = try await shop.get(task)
      #expect(try await shop.get(task).status == "errand; hit; ttl=60")
      for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
        let bytes = (try? Data(contentsOf: folder.appendingPathComponent(name))) ?? Data()  // folders have no content
        #expect(bytes.range(of: Data("hunter".utf8)) == nil && !name.contains("hunter"), "\(name)")
      }
    }
  }

  @Test func `does not store a response if a step added a credential`() async throws {
    struct Signing: PerAttemptStep {
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        request.headers[.authorization] = "Bearer of whoever is signed in"
        return try await next(request)
      }
    }
    let shop = CachedShop(configure: { $0.perAttemptSteps = [Signing()] }) { number, request in
      .text("\(number)", [.cacheControl: "max-age=60"], for: request)
    }
    #expect(try await shop.get() == ("1", "errand; fwd=uri-miss"))
    #expect(try await shop.get() == ("2", "errand; fwd=uri-miss"))
  }

  @Test func `does not store a response from another URL`() async throws {
    let shop = CachedShop { number, request in
      HTTPResponse(url: .known("https://shop.test/other"), headers: [.cacheControl: "max-age=60"])
    }
    for _ in 1...2 { #expect(try await shop.get().status == "errand; fwd=uri-miss") }
    #expect(await shop.cache.entries(for: CacheKey(url: "https://shop.test/other")).isEmpty)
  }

  @Test(arguments: [HTTPMethod.post, .put, .patch, .delete])
  func `an unsafe method removes the stored responses for its URL and its Location`(
    method: HTTPMethod
  ) async throws {
    let shop = CachedShop { number, request in
      guard request.method == .get else { return .status(201, headers: [.location: "/widgets/8"], for: request) }
      return .text("\(number)", [.cacheControl: "max-age=60"], for: request)
    }
    for path in ["widgets/7", "widgets/8", "widgets/9"] { _ = try await shop.get(path) }
    let change = try await CachedTask(path: "widgets/7", httpMethod: method).on(shop.server).caching(.none).run()
    #expect(change.headers[.cacheStatus] == "errand; fwd=method")
    #expect(try await shop.get("widgets/7").text == "5")
    #expect(try await shop.get("widgets/8").text == "6")
    #expect(try await shop.get("widgets/9").text == "3")
  }

  @Test func `a HEAD uses, updates or removes the stored GET response`() async throws {
    let tag = Shared("\"1\"")
    let shop = CachedShop { number, request in
      let headers: HTTPHeaders = [.eTag: tag.withLock { $0 }, .cacheControl: "max-age=60", "X-Number": "\(number)"]
      return request.method == .head
        ? .status(.ok, headers: headers, for: request) : .text("abc", headers, for: request)
    }
    _ = try await shop.get()
    let head = try await shop.task().head()
    #expect(head.headers[.cacheStatus] == "errand; hit; ttl=60" && shop.sentCount == 1)
    shop.clock.advance(by: .seconds(61))
    #expect(try await shop.task().head().headers["X-Number"] == "2")
    let updated = try await shop.task().response()
    #expect(updated.text == "abc" && updated.headers["X-Number"] == "2" && shop.sentCount == 2)
    tag.withLock { $0 = "\"2\"" }
    shop.clock.advance(by: .seconds(61))
    _ = try await shop.task().head()
    #expect(await shop.cache.entries(for: .widget()).isEmpty)
  }

  @Test func `returns a range of a complete stored body and does not store a range as a complete body`() async throws {
    let shop = CachedShop { _, request in
      guard request.headers.contains(.range) else {
        return .text("0123456789", [.cacheControl: "max-age=60", .contentLength: "10"], for: request)
      }
      if request.headers[.range] == "bytes=10-" { return .status(416, for: request) }
      return .text("45", [.cacheControl: "max-age=60", .contentRange: "bytes 4-5/10"], status: 206, for: request)
    }
    let part = shop.task().header(.range, "bytes=4-5")
    #expect(try await shop.get(part) == ("45", "errand; fwd=uri-miss"))
    #expect(try await shop.get() == ("0123456789", "errand; fwd=uri-miss; stored"))
    let answer = try await shop.task().header(.range, "bytes=-3").response()
    #expect(answer.text == "789" && answer.status == .partialContent && answer.headers[.contentRange] == "bytes 7-9/10")
    #expect(answer.headers[.contentLength] == "3" && shop.sentCount == 2)
    let beyond = try await shop.task().header(.range, "bytes=10-").accepting(.all).run()
    #expect(beyond.status == 416 && beyond.headers[.cacheStatus] == "errand; fwd=partial")
  }

  // RFC 9110 §13.2.2: If-None-Match is evaluated before Range.
  @Test func `evaluates the caller's condition before the range`() async throws {
    let shop = CachedShop { number, request in
      if number == 1 { return .text("0123456789", [.eTag: "\"1\"", .cacheControl: "max-age=60"], for: request) }
      return .text("ef", [.eTag: "\"2\"", .contentRange: "bytes 4-5/10"], status: 206, for: request)
    }
    _ = try await shop.get()
    func part(_ tag: String) async throws -> TaskResponse<String> {
      try await shop.task().header(.ifNoneMatch, tag).header(.range, "bytes=4-5").response()
    }
    let same = try await shop.task().header(.ifNoneMatch, "\"1\"").header(.range, "bytes=4-5").run()
    #expect(same.status == .notModified && !same.headers.contains(.contentRange))
    let other = try await part("\"0\"")
    #expect(other.status == .partialContent && other.text == "45" && shop.sentCount == 1)
    shop.clock.advance(by: .seconds(61))
    #expect(
      try await part("\"0\"").text == "ef", "the server evaluates the condition and the range if the response is stale")
    let sent = try #require(shop.requests.last?.headers)
    #expect(sent.values(for: .ifNoneMatch) == ["\"0\""] && sent[.range] == "bytes=4-5")
    #expect(
      await shop.cache.entries(for: .widget()).map(\.length) == [10],
      "a partial response does not replace a complete one")
  }

  @Test func `runs hooks for stored responses and does not store a response that fails verification`() async throws {
    let refuses = Shared(true)
    let log = Shared<[String]>([])
    let shop = CachedShop(configure: { configuration in
      configuration.verify = { _, _ in
        log.withLock { $0.append("verify") }
        if refuses.withLock({ $0 }) { throw TaskError(.badResponse, "refused by the app", phase: .finishing) }
      }
      configuration.postflight = { _, _ in log.withLock { $0.append("postflight") } }
    }) { number, request in .text("\(number)", [.cacheControl: "max-age=60"], for: request) }
    #expect(await taskError { _ = try await shop.get() }?.reason == "refused by the app")
    #expect(await shop.cache.entries(for: .widget()).isEmpty)
    refuses.withLock { $0 = false }
    log.withLock { $0 = [] }
    for _ in 1...2 { #expect(try await shop.get().text == "2") }
    #expect(log.withLock { $0 } == ["verify", "postflight", "verify", "postflight"])
  }

  @Test func `removes the first attempt's stored response if the retry's response is not stored`() async throws {
    let shop = CachedShop(
      configure: { $0.retryPolicy = .fixed(retries: 1, delay: .zero) },
      answer: { number, request in
        if number == 1 {
          return .text("down", [.cacheControl: "max-age=60"], status: .serviceUnavailable, for: request)
        }
        return .text("\(number)", [.cacheControl: "no-store"], for: request)
      })
    #expect(try await shop.get() == ("2", "errand; fwd=uri-miss"))
    #expect(await shop.cache.entries(for: .widget()).isEmpty)
    #expect(try await shop.get().text == "3")
  }

  @Test func `a stream from the cache reports no received bytes`() async throws {
    let shop = CachedShop([.cacheControl: "max-age=60"])
    for expected in [1, 0] {
      let response = try await shop.task().stream()
      #expect(try await response.body.collect() == Data("1".utf8))
      #expect(response.record.tally.bytesReceived == expected)
    }
    #expect(shop.sentCount == 1)
  }
}
