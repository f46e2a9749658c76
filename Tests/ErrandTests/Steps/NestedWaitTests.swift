import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Calls that are made while a request is sent, and wait for other calls, with one slot for all: what the attempt around them holds is
/// given back first.
@Suite(.timeLimit(.minutes(10))) struct NestedWaitTests {
  private let isSending = Gate()
  private let mayGoOn = Gate()
  private let tokens = NumberedTokens(stored: nil)

  private func shop(_ configure: (inout ServerConfiguration) -> Void) -> VirtualShop {
    VirtualShop(limits: ThrottleLimits(perHost: 1), configure: configure) { _, request, _ in
      try await request.body.forEachChunk { _ in }
      return .ok(request)
    }
  }

  /// Runs a call whose body makes another, while `other` waits for the slot that it has.
  private func run(_ shop: VirtualShop, _ nested: Modified<ShopTask>, _ other: Modified<ShopTask>) async throws {
    let body = MadeBody(server: shop.server) { [isSending, mayGoOn] in
      isSending.open()
      await mayGoOn.wait()
      return try await nested.downloadData()
    }
    let outer = Task { try await body.authenticated(.none).run() }
    await isSending.wait()
    let waiting = Task { try await other.downloadData() }
    #expect(await eventually { shop.manager.throttle.waiting == 1 })
    mayGoOn.open()
    _ = try await outer.value
    _ = try await waiting.value
    #expect(shop.manager.runningCount == 0)
  }

  @Test func `a call that joins another one`() async throws {
    let shop = shop { $0.coalescesRequests = true }
    try await run(shop, shop.task("inner"), shop.task("inner"))
    #expect(shop.sentCount == 2)
  }

  @Test func `a call in the serial queue of another one`() async throws {
    let shop = shop { _ in }
    try await run(shop, shop.task("inner").serialQueue(.named("q")), shop.task("other").serialQueue(.named("q")))
    #expect(shop.sentCount == 3)
  }

  @Test func `a call that waits for a token, which takes a request of its own`() async throws {
    struct Login: Authenticator {
      let server: Shared<Server?>
      func storedToken() async throws -> Int? { nil }
      func apply(_ token: Int, to request: inout HTTPRequest) {}
      func refresh(_ token: Int?, _ context: RefreshContext) async throws -> Int? {
        guard let server = server.withLock({ $0 }) else { return nil }
        try await ShopTask(path: "login", httpMethod: .post).on(server).run()
        return 1
      }
    }
    let server = Shared<Server?>(nil)
    let authentication = Authentication.custom(Login(server: server))
    let shop = shop { _ in }
    server.withLock { $0 = shop.server }
    try await run(
      shop, shop.task("inner").authenticated(authentication), shop.task("other").authenticated(authentication))
    #expect(shop.sentCount == 4)
  }

  @Test func `a validation that goes on beside the call that had what is stale`() async throws {
    /// Makes a call that has a stale response, before its own is sent.
    struct Reading: PerAttemptStep {
      let server: Shared<Server?>
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        if request.url.path == "/outer", let server = server.withLock({ $0 }) {
          _ = try await CachedTask(path: "inner").on(server).download()
        }
        return try await next(request)
      }
    }
    let (server, builds, validates) = (Shared<Server?>(nil), Shared(0), Gate())
    let shop = VirtualShop(
      limits: ThrottleLimits(perHost: 1),
      configure: {
        $0.cache = MemoryCache()
        $0.perAttemptSteps = [Reading(server: server)]
        $0.preflight = { _, request in
          let count = builds.withLock { builds in
            if request.url.path == "/inner" { builds += 1 }
            return builds
          }
          if request.url.path == "/inner", count == 3 { await validates.wait() }
        }
      },
      answer: { [isSending, mayGoOn] _, request, _ in
        if request.url.path == "/outer" {
          isSending.open()
          await mayGoOn.wait()
        }
        return .text("1", [.cacheControl: "max-age=10, stale-while-revalidate=30"], for: request)
      })
    server.withLock { $0 = shop.server }
    _ = try await CachedTask(path: "inner").on(shop.server).download()
    shop.clock.advance(by: .seconds(20))
    let outer = Task { try await shop.task("outer").run() }
    await isSending.wait()
    validates.open()
    // It waits in line: the slot that the outer call has is not given back for it.
    #expect(await eventually { shop.manager.throttle.waiting == 1 || shop.sentCount == 3 })
    #expect(shop.sentCount == 2)
    mayGoOn.open()
    _ = try await outer.value
    #expect(await eventually { shop.sentCount == 3 && shop.manager.callCount == 0 })
  }
}

/// An upload whose body is made while it is sent.
struct MadeBody: ServerPOSTTask {
  var server: Server
  let path = "outer"
  let make: @Sendable () async throws -> Data

  func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
    .stream { [make] in
      let isMade = Shared(false)
      return AsyncThrowingStream<Data, any Error>(unfolding: {
        if isMade.withLock({ $0 }) { return nil }
        isMade.withLock { $0 = true }
        return try await make()
      })
    }
  }
}
