import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Steps whose calls wait for other calls, with one slot for all: what the step's own attempt holds is given back first.
@Suite(.timeLimit(.minutes(10))) struct NestedWaitTests {
  /// Makes a call of its own with a response in hand whose slot is held.
  private struct Nesting: PerAttemptStep {
    let hasResponse: Gate
    let mayGoOn: Gate
    let nested: @Sendable (Server) -> Modified<ShopTask>
    let server: Shared<Server?>

    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      guard request.url.path == "/outer", let server = server.withLock({ $0 }) else { return response }
      hasResponse.open()
      await mayGoOn.wait()
      _ = try await nested(server).downloadData()
      return .json("[1]", for: request)
    }
  }

  /// A body that ends with its gate.
  private final class Held: HTTPBodySource {
    let end: Gate

    init(end: Gate) { self.end = end }

    func next() async throws -> Data? {
      await end.wait()
      return nil
    }
  }

  private let hasResponse = Gate()
  private let mayGoOn = Gate()
  private let end = Gate()
  private let tokens = NumberedTokens(stored: nil)

  private func shop(
    _ nested: @escaping @Sendable (Server) -> Modified<ShopTask>,
    _ configure: @escaping (inout ServerConfiguration) -> Void
  ) -> VirtualShop {
    let server = Shared<Server?>(nil)
    let step = Nesting(hasResponse: hasResponse, mayGoOn: mayGoOn, nested: nested, server: server)
    let shop = VirtualShop(
      limits: ThrottleLimits(perHost: 1),
      configure: {
        $0.perAttemptSteps = [step]
        configure(&$0)
      },
      answer: { [end] _, request, _ in
        request.url.path == "/outer"
          ? HTTPResponse(url: request.url, body: HTTPResponseBody(Held(end: end))) : .ok(request)
      })
    server.withLock { $0 = shop.server }
    return shop
  }

  /// Runs a call whose step makes another, while `other` waits for the slot that it has.
  private func run(_ shop: VirtualShop, _ other: Modified<ShopTask>) async throws {
    defer { end.open() }
    let outer = Task { try await shop.task("outer", method: .post).authenticated(.none).run() }
    await hasResponse.wait()
    let waiting = Task { try await other.downloadData() }
    #expect(await eventually { shop.manager.throttle.waiting == 1 })
    mayGoOn.open()
    _ = try await outer.value
    _ = try await waiting.value
    #expect(shop.manager.runningCount == 0)
  }

  @Test func `a call that joins another one`() async throws {
    let shop = shop({ ShopTask(path: "inner", httpMethod: .get).on($0) }) { $0.coalescesRequests = true }
    try await run(shop, shop.task("inner"))
    #expect(shop.sentCount == 2)
  }

  @Test func `a call in the serial queue of another one`() async throws {
    let shop = shop({ ShopTask(path: "inner", httpMethod: .get).on($0).serialQueue(.named("q")) }) { _ in }
    try await run(shop, shop.task("other").serialQueue(.named("q")))
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
    let shop = shop({ ShopTask(path: "inner", httpMethod: .get).on($0).authenticated(authentication) }) { _ in }
    server.withLock { $0 = shop.server }
    try await run(shop, shop.task("other").authenticated(authentication))
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
      answer: { [hasResponse, mayGoOn] _, request, _ in
        if request.url.path == "/outer" {
          hasResponse.open()
          await mayGoOn.wait()
        }
        return .text("1", [.cacheControl: "max-age=10, stale-while-revalidate=30"], for: request)
      })
    server.withLock { $0 = shop.server }
    _ = try await CachedTask(path: "inner").on(shop.server).download()
    shop.clock.advance(by: .seconds(20))
    let outer = Task { try await shop.task("outer").run() }
    await hasResponse.wait()
    validates.open()
    // It waits in line: the slot that the outer call has is not given back for it.
    #expect(await eventually { shop.manager.throttle.waiting == 1 || shop.sentCount == 3 })
    #expect(shop.sentCount == 2)
    mayGoOn.open()
    _ = try await outer.value
    #expect(await eventually { shop.sentCount == 3 && shop.manager.callCount == 0 })
  }
}
