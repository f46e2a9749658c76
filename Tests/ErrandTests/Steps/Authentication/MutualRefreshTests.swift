import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Authenticators whose refreshes need each other's tokens.
@Suite(.timeLimit(.minutes(1))) struct MutualRefreshTests {
  private struct Partner: Authenticator {
    let name: String
    let other: Shared<Modified<ShopTask>?>
    /// Counts the refreshes started by both authenticators.
    let begun: Counter
    let together: Int

    func storedToken() async throws -> String? { nil }
    func apply(_ token: String, to request: inout HTTPRequest) { request.headers["X-Token"] = token }

    func refresh(_ token: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
      begun.add()
      await begun.reached(together)
      _ = try await other.withLock { $0 }?.run()
      return name
    }
  }

  /// Makes one call per name concurrently. The authenticators of `a` and `b` depend on each other. Returns the path and
  /// token of each request.
  private func arriving(_ names: [String], together: Int) async -> [String] {
    let (sent, begun) = (Shared<[String]>([]), Counter())
    let shop = VirtualShop(answer: { _, request, _ in
      sent.withLock { $0.append("\(request.url.path) \(request.headers["X-Token"] ?? "-")") }
      return .ok(request)
    })
    let (fromA, fromB) = (Shared<Modified<ShopTask>?>(nil), Shared<Modified<ShopTask>?>(nil))
    let a = Authentication.custom(Partner(name: "a", other: fromA, begun: begun, together: together))
    let b = Authentication.custom(Partner(name: "b", other: fromB, begun: begun, together: together))
    fromA.withLock { $0 = shop.task("from-a").authenticated(b) }
    fromB.withLock { $0 = shop.task("from-b").authenticated(a) }
    let calls = names.map { name in
      Task { try await shop.task(name).authenticated(name == "a" ? a : b).run() }
    }
    let haveEnded = await eventually { sent.withLock { $0.count } == names.count + 2 }
    #expect(haveEnded, "the refreshes wait for each other")
    if !haveEnded { for call in calls { call.cancel() } }
    for call in calls { _ = try? await call.value }
    return sent.withLock { $0 }
  }

  @Test func `a refresh inside another authenticator's refresh does not wait for the outer refresh`() async throws {
    #expect(await arriving(["a"], together: 1) == ["/from-b -", "/from-a b", "/a a"])
  }

  @Test func `two concurrent refreshes that depend on each other do not deadlock`() async throws {
    for _ in 0..<20 {
      let sent = Set(await arriving(["a", "b"], together: 2))
      try #require(
        sent == ["/from-b -", "/from-a b", "/a a", "/b b"] || sent == ["/from-a -", "/from-b a", "/a a", "/b b"],
        "\(sent)")
    }
  }

  private struct Refused: Error {}

  /// Forgets all tokens, then fails.
  private struct Leaving: Authenticator {
    let all: Shared<[Authentication]>
    let begun: Counter

    func storedToken() async throws -> String? { nil }
    func apply(_ token: String, to request: inout HTTPRequest) {}

    func refresh(_ token: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
      begun.add()
      await begun.reached(2)
      for authentication in all.withLock({ $0 }) { try await authentication.forget() }
      throw Refused()
    }
  }

  @Test(arguments: 1...20) func `two refreshes that forget each other's tokens do not deadlock`(_ round: Int)
    async throws
  {
    let (all, begun, ended) = (Shared<[Authentication]>([]), Counter(), Counter())
    let shop = VirtualShop(answer: { _, request, _ in .ok(request) })
    let authentications = (0..<2).map { _ in Authentication.custom(Leaving(all: all, begun: begun)) }
    all.withLock { $0 = authentications }
    let calls = authentications.map { authentication in
      Task {
        defer { ended.add() }
        try await shop.task().authenticated(authentication).run()
      }
    }
    try #require(await eventually { ended.count == 2 }, "the refreshes wait for each other")
    for call in calls { await #expect(throws: Refused.self) { try await call.value } }
    // Both authenticators are still usable.
    for authentication in authentications { try await authentication.forget() }
  }
}
