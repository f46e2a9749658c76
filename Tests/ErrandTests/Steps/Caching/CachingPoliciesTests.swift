import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Every cache policy, set by a server, a task or a call.
@Suite(.timeLimit(.minutes(1))) struct CachingPoliciesTests {
  @Test func `cacheOnly sends nothing and throws .notCached if nothing is stored`() async throws {
    let shop = CachedShop([.cacheControl: "max-age=60, must-revalidate"])
    let error = try #require(await taskError { _ = try await shop.get("widgets/7", .cacheOnly) })
    #expect(error.code == .notCached && error.status == .gatewayTimeout && error.wasNotSent && shop.sentCount == 0)
    #expect("\(error)".hasPrefix("GET https://shop.test/widgets/7: no response is stored for this request"))
    _ = try await shop.get()
    shop.clock.advance(by: .seconds(1000))
    #expect(try await shop.get("widgets/7", .cacheOnly) == ("1", "errand; hit; ttl=-940"))
    let post = CachedTask(path: "widgets", httpMethod: .post).on(shop.server).caching(.cacheOnly)
    #expect(await taskError { try await post.run() }?.code == .notCached)
    let bare = StubServer(.widget)
    #expect(
      await taskError { _ = try await GetWidget().on(bare.server).caching(.cacheOnly).download() }?.code == .notCached)
    #expect(bare.requests.isEmpty)
  }

  @Test func `a request with only-if-cached throws .notCached if nothing is stored`() async throws {
    let shop = CachedShop([.cacheControl: "max-age=60"])
    let task = shop.task().header(.cacheControl, "only-if-cached")
    #expect(await taskError { _ = try await shop.get(task) }?.code == .notCached)
    _ = try await shop.get()
    #expect(try await shop.get(task).status == "errand; hit; ttl=60" && shop.sentCount == 1)
  }

  @Test func `cacheFirst sends a request only if nothing is stored`() async throws {
    let shop = CachedShop([.cacheControl: "no-cache"])
    #expect(try await shop.get("widgets/7", .cacheFirst).text == "1")
    shop.clock.advance(by: .seconds(1e6))
    #expect(try await shop.get("widgets/7", .cacheFirst).text == "1" && shop.sentCount == 1)
  }

  @Test func `reload ignores the stored response and replaces it`() async throws {
    let shop = CachedShop([.cacheControl: "max-age=60", .eTag: "\"1\""])
    _ = try await shop.get()
    #expect(try await shop.get("widgets/7", .reload) == ("2", "errand; fwd=request; stored"))
    #expect(shop.requests[1].headers[.ifNoneMatch] == nil && shop.requests[1].headers[.cacheControl] == "no-cache")
    #expect(try await shop.get().text == "2")
  }

  @Test func `reload and validated bypass shared caches unless the task sets Cache-Control`() async throws {
    let shop = CachedShop([.cacheControl: "max-age=60", .eTag: "\"1\""])
    for policy in [CachePolicy.standard, .validated, .validated, .reload, .networkFirst(), .none] {
      _ = try await shop.get("widgets/\(shop.sentCount < 2 ? shop.sentCount : 1)", policy)
    }
    let sent = shop.requests.map { [$0.headers[.cacheControl], $0.headers[.pragma]] }
    #expect(
      sent == [
        [nil, nil], ["max-age=0", nil], ["max-age=0", nil], ["no-cache", "no-cache"], [nil, nil], [nil, nil],
      ])
    #expect(shop.requests.map { $0.headers.contains(.ifNoneMatch) } == [false, false, true, false, true, false])
    _ = try await shop.get(shop.task("widgets/1", .validated).header(.cacheControl, "no-transform"))
    #expect(shop.requests.last?.headers.values(for: .cacheControl) == ["no-transform"])
  }

  @Test func `a background validation can be answered by a shared cache`() async throws {
    let shop = CachedShop([.cacheControl: "max-age=1, stale-while-revalidate=60", .eTag: "\"1\""])
    _ = try await shop.get()
    shop.clock.advance(by: .seconds(2))
    _ = try await shop.get()
    #expect(await eventually { shop.sentCount == 2 })
    #expect(shop.requests[1].headers[.ifNoneMatch] == "\"1\"" && shop.requests[1].headers[.cacheControl] == nil)
  }

  @Test func `the validated policy bypasses shared caches with coalescing too`() async throws {
    let shop = CachedShop(configure: { $0.coalescesRequests = true }) { number, request in
      .text("\(number)", [.cacheControl: "max-age=60"], for: request)
    }
    _ = try await shop.get("widgets/7", .validated)
    #expect(shop.requests.first?.headers[.cacheControl] == "max-age=0")
  }

  @Test func `the none policy bypasses the cache, and withoutStoring only reads from the cache`() async throws {
    let shop = CachedShop([.cacheControl: "max-age=60"])
    #expect(try await shop.get("widgets/7", .none) == ("1", "errand; fwd=bypass"))
    #expect(try await shop.get("widgets/7", .standard.withoutStoring) == ("2", "errand; fwd=uri-miss"))
    #expect(try await shop.get() == ("3", "errand; fwd=uri-miss; stored"))
    #expect(try await shop.get("widgets/7", .none).text == "4")
    #expect(try await shop.get("widgets/7", .standard.withoutStoring).text == "3")
  }

  @Test func `networkFirst returns the stored response if the network fails`() async throws {
    let isUp = Shared(true)
    let shop = CachedShop { number, request in
      guard isUp.withLock({ $0 }) else {
        throw TaskError(.offline, "no network", phase: .connecting, wasNotSent: true)
      }
      return .text("\(number)", [.cacheControl: "no-cache, must-revalidate"], for: request)
    }
    #expect(try await shop.get("widgets/7", .networkFirst()).text == "1")
    #expect(try await shop.get("widgets/7", .networkFirst()).text == "2")
    isUp.withLock { $0 = false }
    #expect(try await shop.get("widgets/7", .networkFirst()).text == "2")
    #expect(await taskError { _ = try await shop.get("widgets/8", .networkFirst()) }?.code == .offline)
    #expect(await taskError { _ = try await shop.get("widgets/7", .standard) }?.code == .offline)
  }

  @Test func `networkFirst returns the stored response when the limit expires`() async throws {
    let shop = CachedShop { number, request in
      if number == 2 { try await CallClock(ManualClock()).sleep(for: .seconds(1)) }  // forever
      return .text("\(number)", [.cacheControl: "max-age=60"], for: request)
    }
    _ = try await shop.get("widgets/7", .networkFirst(limit: .seconds(3)))
    let call = Task { try await shop.get("widgets/7", .networkFirst(limit: .seconds(3))) }
    await shop.clock.sleepers(count: 1)
    #expect(await eventually { shop.sentCount == 2 })
    shop.clock.advance(by: .seconds(3))
    #expect(try await call.value.text == "1")
    #expect(await eventually { shop.server.manager.runningCount == 0 && shop.events.isBalanced })
    // The response that was too late is requested again in the background.
    #expect(try await eventually { try await shop.get("widgets/7", .cacheOnly).text == "3" })
  }

  @Test func `networkFirst ends a stream's attempt if the response arrives as the limit expires`() async throws {
    let shop = CachedShop { number, request in
      if number == 2 { try? await CallClock(ManualClock()).sleep(for: .seconds(1)) }  // until it is cancelled
      let headers: HTTPHeaders = [.cacheControl: "max-age=60", .eTag: "\"1\""]
      return number == 1
        ? .text("1", headers, for: request) : HTTPResponse(.notModified, url: request.url, headers: headers)
    }
    let task = shop.task("widgets/7", .networkFirst(limit: .seconds(3)))
    _ = try await shop.get(task)
    let call = Task { try await task.stream().body.collect() }
    await shop.clock.sleepers(count: 1)
    #expect(await eventually { shop.sentCount == 2 })
    shop.clock.advance(by: .seconds(3))
    #expect(try await call.value == Data("1".utf8))
    #expect(await eventually { shop.server.manager.callCount == 0 && shop.events.isBalanced })
  }

  @Test func `networkFirst does not validate a .neverRepeat task again when the limit expires`() async throws {
    let shop = CachedShop { number, request in
      if number == 2 { try await CallClock(ManualClock()).sleep(for: .seconds(1)) }  // forever
      return .text("\(number)", [.cacheControl: "max-age=60"], for: request)
    }
    let policy = CachePolicy.networkFirst(limit: .seconds(3))
    _ = try await shop.get("widgets/7", policy)
    let task = shop.task("widgets/7", policy).idempotency(.neverRepeat)
    let call = Task { try await shop.get(task).text }
    await shop.clock.sleepers(count: 1)
    #expect(await eventually { shop.sentCount == 2 })
    shop.clock.advance(by: .seconds(3))
    #expect(try await call.value == "1")
    #expect(await eventually { shop.server.manager.callCount == 0 && shop.events.isBalanced })
    #expect(shop.sentCount == 2)
  }

  @Test func `does not hide security errors behind a stored response`() async throws {
    let code = Shared(TaskError.Code.offline)
    let shop = CachedShop { number, request in
      guard number > 1 else { return .text("1", [.cacheControl: "max-age=1, stale-if-error=1000"], for: request) }
      throw TaskError(code.withLock { $0 }, "no", phase: .connecting)
    }
    _ = try await shop.get()
    shop.clock.advance(by: .seconds(2))
    for wrong in [TaskError.Code.untrustedServer, .pinMismatch, .insecureScheme, .badRequest] {
      code.withLock { $0 = wrong }
      #expect(await taskError { _ = try await shop.get("widgets/7", .networkFirst()) }?.code == wrong)
    }
    code.withLock { $0 = .connectionLost }
    #expect(try await shop.get().text == "1")
  }

  @Test func `the call's policy overrides the task's, which overrides the server's`() async throws {
    struct Fresh: PayloadDownloadingTask {
      typealias DownloadPayload = String
      let path = "widgets/7"
      let cachePolicy = CachePolicy.reload
    }
    let shop = CachedShop(configure: { $0.cachePolicy = .none }) { number, request in
      .text("\(number)", [.cacheControl: "max-age=60"], for: request)
    }
    #expect(try await shop.get().status == "errand; fwd=bypass")
    #expect(try await shop.get(Fresh().on(shop.server)).status == "errand; fwd=uri-miss; stored")
    #expect(try await shop.get(Fresh().on(shop.server).caching(.standard)).status == "errand; hit; ttl=60")
    #expect(try await shop.get(Fresh().on(shop.server).caching(.inherited)).status == "errand; fwd=bypass")
  }

  @Test func `a cancelled call stores nothing and leaves nothing running`() async throws {
    let shop = CachedShop { number, request in
      try await CallClock(ManualClock()).sleep(for: .seconds(1))  // forever
      return .text("\(number)", [.cacheControl: "max-age=60"], for: request)
    }
    let call = Task { try await shop.get() }
    #expect(await eventually { shop.sentCount == 1 })
    shop.server.manager.calls.cancel { _ in true }
    await #expect(throws: CancellationError.self) { try await call.value }
    #expect(shop.server.manager.callCount == 0 && shop.events.isBalanced)
    #expect(await shop.cache.entries(for: .widget()).isEmpty)
  }

  @Test func `withoutStoring and cacheOnly do not start a background validation`() async throws {
    let shop = CachedShop([.cacheControl: "max-age=10, stale-while-revalidate=30"])
    _ = try await shop.get()
    shop.clock.advance(by: .seconds(20))
    #expect(try await shop.get("widgets/7", .standard.withoutStoring).text == "2")
    #expect(try await shop.get("widgets/7", .cacheOnly).text == "1")
    #expect(shop.sentCount == 2 && shop.server.manager.callCount == 0)
  }
}
