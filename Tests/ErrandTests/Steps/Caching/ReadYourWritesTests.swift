import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Calls made after an unsafe call never receive an older response.
@Suite(.timeLimit(.minutes(1))) struct ReadYourWritesTests {
  private let gate = Gate()

  /// Creates a shop that delays its first response until the gate opens, so this response is older than any change.
  private func shop(_ configure: (inout ServerConfiguration) -> Void = { _ in }) -> CachedShop {
    CachedShop(configure: configure) { [gate] number, request in
      if number == 1 { await gate.wait() }
      return .text("\(number)", [.cacheControl: "max-age=60"], for: request)
    }
  }

  private func put(_ shop: CachedShop) async throws {
    _ = try await CachedTask(path: "widgets/7", httpMethod: .put).on(shop.server).run()
  }

  @Test func `does not store a response requested before a change`() async throws {
    let shop = shop()
    let early = Task { try await shop.get() }
    #expect(await eventually { shop.sentCount == 1 })
    try await put(shop)
    gate.open()
    #expect(try await early.value.text == "1")
    #expect(try await shop.get().text == "3")
    #expect(try await shop.get() == ("3", "errand; hit; ttl=60"))
  }

  @Test(arguments: [true, false]) func `a call after a change does not join an earlier request`(hasCache: Bool)
    async throws
  {
    let shop = shop { configuration in
      configuration.coalescesRequests = true
      if !hasCache { configuration.cache = nil }
    }
    let early = Task { try await shop.get() }
    #expect(await eventually { shop.sentCount == 1 })
    try await put(shop)
    #expect(try await shop.get().text == "3")
    gate.open()
    #expect(try await early.value.text == "1", "a call that is already waiting receives the old response")
    #expect(await eventually { shop.server.manager.callCount == 0 })
  }

  @Test(arguments: [nil, 504, 500] as [HTTPStatus?])
  func `a change that gets no response or a server error removes the stored response`(
    status: HTTPStatus?
  ) async throws {
    let shop = CachedShop { number, request in
      if request.method.isSafe { return .text("\(number)", [.cacheControl: "max-age=60"], for: request) }
      guard let status else { throw TaskError(.connectionLost, "no", phase: .awaitingResponse) }
      return .status(status, for: request)
    }
    _ = try await shop.get()
    await #expect(throws: TaskError.self) { try await put(shop) }
    #expect(try await shop.get().text == "3")
  }

  @Test(arguments: [false, true])
  func `an unanswered change removes the response stored for the URL that it was sent to`(
    isRedirected: Bool
  ) async throws {
    struct Moving: PerAttemptStep {
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        if request.url.path == "/logical" { request.url = .known("https://shop.test/widgets/7") }
        return try await next(request)
      }
    }
    let shop = CachedShop(configure: { if !isRedirected { $0.perAttemptSteps = [Moving()] } }) { number, request in
      if request.method.isSafe { return .text("\(number)", [.cacheControl: "max-age=60"], for: request) }
      guard request.url.path == "/widgets/7" else {
        return .status(.temporaryRedirect, headers: [.location: "/widgets/7"], for: request)
      }
      throw TaskError(.connectionLost, "no", phase: .awaitingResponse)
    }
    _ = try await shop.get()
    let change = CachedTask(path: isRedirected ? "moved" : "logical", httpMethod: .put).on(shop.server)
    await #expect(throws: TaskError.self) { _ = try await change.run() }
    #expect(try await shop.get().text == "\(shop.sentCount)")
  }

  @Test func `a change that was not sent keeps the stored response`() async throws {
    let shop = CachedShop { number, request in
      if request.method.isSafe { return .text("\(number)", [.cacheControl: "max-age=60"], for: request) }
      throw TaskError(.cannotConnect, "no", phase: .connecting, wasNotSent: true)
    }
    _ = try await shop.get()
    await #expect(throws: TaskError.self) { try await put(shop) }
    #expect(try await shop.get().text == "1")
  }

  @Test func `a rejected change keeps the stored response`() async throws {
    let shop = CachedShop { number, request in
      request.method.isSafe
        ? .text("\(number)", [.cacheControl: "max-age=60"], for: request) : .status(409, for: request)
    }
    _ = try await shop.get()
    await #expect(throws: TaskError.self) { try await put(shop) }
    #expect(try await shop.get().text == "1")
  }

  @Test func `a change to another URL has no effect`() async throws {
    let shop = shop()
    let early = Task { try await shop.get() }
    #expect(await eventually { shop.sentCount == 1 })
    _ = try await CachedTask(path: "widgets/8", httpMethod: .put).on(shop.server).run()
    gate.open()
    _ = try await early.value
    #expect(try await shop.get() == ("1", "errand; hit; ttl=60"))
  }

  @Test func `treats all earlier requests as outdated once the limit of tracked changes is exceeded`() {
    let coordinator = InvalidationLog()
    let start = coordinator.count
    coordinator.note("a")
    #expect(!coordinator.isUnchanged("a", since: start) && coordinator.isUnchanged("b", since: start))
    #expect(coordinator.isUnchanged("a", since: coordinator.count))
    for number in 0..<2000 { coordinator.note("\(number)") }
    #expect(!coordinator.isUnchanged("b", since: start) && coordinator.isUnchanged("b", since: coordinator.count))
  }

  @Test func `removes a response that is committed during a change to its URL`() async throws {
    let (cache, log) = (MemoryCache(), InvalidationLog())
    /// A writer whose commit coincides with a change.
    struct Slow: CacheWriter {
      let base: any CacheWriter
      let log: InvalidationLog
      func write(_ data: Data) async throws { try await base.write(data) }
      func commit() async throws {
        log.note(CacheKey.widget().url)
        try await base.commit()
      }
      func discard() { base.discard() }
    }
    let slow = Slow(base: try await cache.store(.made(), for: .widget()), log: log)
    let writer = CurrentWriter(
      writer: StoreWriter(slow), store: cache, url: CacheKey.widget().url, account: nil, log: log, count: log.count
    ) {}
    await writer.write(Data("abc".utf8))
    await writer.commit()
    #expect(cache.count == 0)
  }

  @Test func `a redirected POST removes the stored responses for both URLs, even if the redirect fails`() async throws {
    let shop = CachedShop { number, request in
      if request.method == .post {
        return .status(303, headers: [.location: "https://shop.test:443/made"], for: request)
      }
      if number == 4 { throw TaskError(.connectionLost, "gone", phase: .awaitingResponse) }
      return .text("\(number)", [.cacheControl: "max-age=60"], for: request)
    }
    for path in ["widgets", "made"] { _ = try await shop.get(path) }
    let change = CachedTask(path: "widgets", httpMethod: .post).on(shop.server)
    #expect(await taskError { _ = try await change.run() }?.code == .connectionLost)
    #expect(try await shop.get("widgets").text == "5")
    #expect(try await shop.get("made").text == "6")
  }

  // Deadlines belong to the callers, not to the shared request.
  @Test func `a call that joins a shared request late keeps its full deadline`() async throws {
    let shop = shop { configuration in
      configuration.coalescesRequests = true
      configuration.timeouts.call = .seconds(10)
    }
    let early = Task { try await shop.get() }
    #expect(await eventually { shop.sentCount == 1 })
    await shop.clock.sleepers(count: 1)
    shop.clock.advance(by: .seconds(9))
    let late = Task { try await shop.get() }
    #expect(await eventually { shop.events.moments().count { $0.hasPrefix("joined") } == 2 })
    await shop.clock.sleepers(count: 2)
    shop.clock.advance(by: .seconds(1))
    #expect(await taskError { _ = try await early.value }?.timer == .call)
    gate.open()
    #expect(try await late.value.text == "1" && shop.sentCount == 1)
  }
}
