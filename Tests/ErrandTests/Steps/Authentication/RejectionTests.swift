import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Tokens that depend on the response that rejects a request.
@Suite(.timeLimit(.minutes(1))) struct RejectionTests {
  /// Takes the token from the rejecting response. The token key is the first component of the request's path.
  private final class Offered: Authenticator {
    struct Refresh: Equatable { let token, offer, key: String? }

    let refreshes = Shared<[Refresh]>([])
    let forgotten = Counter()
    let isFirstKnown: Bool

    init(isFirstKnown: Bool = false) { self.isFirstKnown = isFirstKnown }

    func tokenKey(for request: HTTPRequest) -> String {
      request.url.path.split(separator: "/").first.map { "\($0)" } ?? ""
    }

    func storedToken() async throws -> String? { isFirstKnown ? "stored" : nil }

    func apply(_ token: String, to request: inout HTTPRequest) { request.headers["X-Token"] = token }

    func refresh(_ token: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
      let offer = response?.headers["X-Offer"]
      refreshes.withLock { $0.append(Refresh(token: token, offer: offer, key: context.tokenKey)) }
      return offer
    }

    func isAuthenticationFailure(_ response: HTTPResponse) -> Bool { response.status == .conflict }

    func forget() async throws { forgotten.add() }
  }

  /// Creates a server that accepts the token `good` followed by the path's first component and offers it in each 409. A
  /// strict server rejects every token and offers a bad one.
  private func shop(_ tokens: Offered, isStrict: Bool = false) -> (VirtualShop, Shared<[String]>) {
    let log = Shared<[String]>([])
    let shop = VirtualShop(configure: { $0.authentication = .custom(tokens) }) { number, request, _ in
      let (token, first) = (request.headers["X-Token"], request.url.path.split(separator: "/").first ?? "")
      log.withLock { $0.append("\(request.url.path) \(token ?? "-")") }
      let isAccepted = !isStrict && token == "good \(first)"
      return .status(
        isAccepted ? .ok : .conflict, headers: ["X-Offer": isStrict ? "bad \(number)" : "good \(first)"], for: request)
    }
    return (shop, log)
  }

  @Test func `refresh receives the response that rejected a request without a token`() async throws {
    let tokens = Offered()
    let (shop, log) = shop(tokens)
    for _ in 0..<2 { #expect(try await shop.task("a/1", method: .post).run().status == .ok) }
    #expect(log.withLock { $0 } == ["/a/1 -", "/a/1 good a", "/a/1 good a"])
    #expect(
      tokens.refreshes.withLock { $0 } == [
        .init(token: nil, offer: nil, key: "a"), .init(token: nil, offer: "good a", key: "a"),
      ])
  }

  @Test func `refresh receives the response that rejected the token`() async throws {
    let tokens = Offered(isFirstKnown: true)
    let (shop, log) = shop(tokens)
    try await shop.task("a/1").run()
    #expect(log.withLock { $0 } == ["/a/1 stored", "/a/1 good a"])
    #expect(tokens.refreshes.withLock { $0 } == [.init(token: "stored", offer: "good a", key: "a")])
  }

  @Test func `a later request's refresh receives the rejection of a request that can't be resent`() async throws {
    let tokens = Offered(isFirstKnown: true)
    let (shop, log) = shop(tokens)
    let once = shop.task("a/1", method: .post).idempotency(.neverRepeat)
    #expect(await taskError { try await once.run() }?.status == .conflict)
    try await shop.task("a/2").run()
    #expect(log.withLock { $0 } == ["/a/1 stored", "/a/2 good a"])
    #expect(tokens.refreshes.withLock { $0 } == [.init(token: "stored", offer: "good a", key: "a")])
  }

  @Test func `each key has its own token, and forget() removes all tokens`() async throws {
    let tokens = Offered()
    let (shop, log) = shop(tokens)
    for path in ["a/1", "b/1", "a/2", "b/2"] { try await shop.task(path).run() }
    #expect(
      log.withLock { $0 } == ["/a/1 -", "/a/1 good a", "/b/1 -", "/b/1 good b", "/a/2 good a", "/b/2 good b"])
    try await shop.server.configuration.authentication.forget()
    #expect(tokens.forgotten.count == 1)
    log.withLock { $0 = [] }
    for path in ["a/3", "b/3"] { try await shop.task(path).run() }
    #expect(log.withLock { $0 } == ["/a/3 -", "/a/3 good a", "/b/3 -", "/b/3 good b"])
    #expect(tokens.refreshes.withLock { $0.suffix(4).map(\.token) } == [nil, nil, nil, nil])
  }

  @Test func `a server that rejects every token does not cause a refresh for every request`() async throws {
    let tokens = Offered()
    let (shop, log) = shop(tokens, isStrict: true)
    for _ in 0..<3 { #expect(await taskError { try await shop.task("a/1").run() }?.status == .conflict) }
    #expect(log.withLock { $0 } == ["/a/1 -", "/a/1 bad 1", "/a/1 bad 1", "/a/1 bad 1"])
    #expect(tokens.refreshes.withLock { $0.count } == 2)
    #expect(await taskError { try await shop.task("b/1").run() }?.status == .conflict)
    #expect(log.withLock { $0.last } == "/b/1 bad 5", "another key is not affected")
  }

  @Test func `a redirect to a URL with another key drops the token`() async throws {
    let log = Shared<[String?]>([])
    let shop = VirtualShop(configure: { $0.authentication = .custom(Offered(isFirstKnown: true)) }) {
      number, request, _ in
      log.withLock { $0.append(request.headers["X-Token"]) }
      return number < 3
        ? .status(307, headers: [.location: number == 1 ? "/a/2" : "/b"], for: request)
        : .status(.conflict, headers: ["X-Offer": "b"], for: request)
    }
    #expect(await taskError { try await shop.task("a/1").run() }?.status == .conflict)
    #expect(log.withLock { $0 } == ["stored", "stored", nil])
  }

  @Test func `concurrent requests with the same key share one refresh`() async throws {
    let tokens = Offered()
    let (shop, _) = shop(tokens)
    let calls = (0..<20).map { number in Task { try await shop.task(number % 2 == 0 ? "a" : "b").run().status } }
    for call in calls { #expect(try await call.value == .ok) }
    let offers = tokens.refreshes.withLock { $0.filter { $0.offer != nil } }
    #expect(offers.count == 2, "\(offers)")
  }

  /// An authenticator with one token per path. Its refreshes wait until they are cancelled.
  private struct Waiting: Authenticator {
    let begun = Counter()
    let cancelled = Counter()
    let removed = Shared<[Int]>([])
    func tokenKey(for request: HTTPRequest) -> String { request.url.path }
    func apply(_ token: String, to request: inout HTTPRequest) {}
    func refresh(_ token: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
      begun.add()
      while !Task.isCancelled { await Task.yield() }
      cancelled.add()
      throw CancellationError()
    }
    func forget() async throws { removed.withLock { $0.append(cancelled.count) } }
  }

  @Test func `forget() cancels the refreshes of all keys and waits for them before removing tokens`() async throws {
    let tokens = Waiting()
    let shop = VirtualShop(configure: { $0.authentication = .custom(tokens) }) { _, request, _ in .ok(request) }
    let calls = ["a", "b", "c"].map { path in Task { await taskError { try await shop.task(path).run() }?.code } }
    await tokens.begun.reached(3)
    try await shop.server.configuration.authentication.forget()
    #expect(tokens.removed.withLock { $0 } == [3])
    for call in calls { #expect(await call.value == .authenticationFailed) }
  }
}
