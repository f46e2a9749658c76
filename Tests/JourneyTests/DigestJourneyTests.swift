import Errand
import ErrandTesting
import Foundation
import Testing

/// Digest authentication on real sockets, with and without a challenge.
@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct DigestJourneyTests {
  private struct Order: ServerPOSTTask {
    var path = "orders"
    var acceptedStatuses: AcceptedStatuses { .all }

    func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody { .text("one order") }
  }

  private struct OnceOrder: ServerPOSTTask {
    let path = "orders"

    func uploadBody(encoder: any BodyEncoder) async throws -> HTTPBody {
      .once(
        AsyncStream {
          $0.yield(Data("once".utf8))
          $0.finish()
        })
    }
  }

  private func shop(limits: ThrottleLimits = ThrottleLimits()) throws -> Shop {
    try Shop(limits: limits) {
      $0.preflight = { _, request in request.options.digest = Credential(user: "ann", password: "sesame") }
    }
  }

  /// Returns the method and body of each request.
  private func sent(to shop: Shop) -> [String] {
    shop.mock.requests.map { "\($0.method) \(String(decoding: $0.body, as: UTF8.self))" }
  }

  private static func challenge(_ nonce: String, more: String = "") -> MockAnswer {
    .status(
      401, headers: [.wwwAuthenticate: #"Digest realm="shop", nonce="\#(nonce)", qop="auth"\#(more)"#], body: "no")
  }

  /// Returns the parameters of a request's credentials, or `nil` if it has none.
  private static func answer(_ request: MockRequest) -> AuthenticationChallenge? {
    guard let value = request.headers[.authorization] else { return nil }
    return ([.wwwAuthenticate: value] as HTTPHeaders).challenges.first
  }

  // MARK: Without a challenge

  @Test(arguments: [200, 204, 400, 403, 500]) func `sends a POST only once if the server does not challenge it`(
    code: Int
  )
    async throws
  {
    let shop = try shop()
    shop.mock.route("/orders", answer: .status(HTTPStatus(code)))
    #expect(try await Order().on(shop.server).run().status.code == code)
    #expect(sent(to: shop) == ["POST one order"])
    #expect(shop.mock.requests.first?.headers[.authorization] == nil)
  }

  @Test func `resends an unchallenged POST with its body after a redirect, or as a GET after a 303`() async throws {
    for (code, expected) in [(303, ["POST one order", "GET "]), (307, ["POST one order", "POST one order"])] {
      let shop = try shop()
      shop.mock.route("/orders", answer: .status(HTTPStatus(code), headers: ["Location": "/done"]))
      shop.mock.route("/done", answer: .text("done"))
      #expect(try await Order().on(shop.server).run().status == .ok)
      #expect(sent(to: shop) == expected)
    }
  }

  // MARK: With a challenge

  @Test func `resends a challenged POST with its body and authenticates the next POST directly`() async throws {
    let shop = try shop()
    shop.mock.route("/orders") { Self.answer($0) == nil ? Self.challenge("n1") : .text("in") }
    for _ in 0..<2 { #expect(try await Order().on(shop.server).run().status == .ok) }
    #expect(sent(to: shop) == ["POST one order", "POST one order", "POST one order"])
    #expect(shop.mock.requests.map { Self.answer($0)?["nc"] } == [nil, "00000001", "00000002"])
    #expect(shop.mock.requests.map(\.indexOnConnection) == (keepsConnections ? [0, 1, 2] : [0, 0, 0]))
    #expect(await eventually { shop.isQuiet })
  }

  @Test func `sends a one-shot body only if the challenge is already known`()
    async throws
  {
    let shop = try shop()
    shop.mock.route("/orders") { Self.answer($0) == nil ? Self.challenge("n1") : .text("in") }
    let error = await #expect(throws: TaskError.self) { try await OnceOrder().on(shop.server).run() }
    #expect(
      error?.status == 401 && error?.retryRefusal == "the request body can only be read once",
      "\(String(describing: error))")
    #expect(sent(to: shop) == ["POST once"])
    #expect(try await OnceOrder().on(shop.server).run().status == .ok)
    #expect(sent(to: shop) == ["POST once", "POST once"])
  }

  @Test func `concurrent exchanges use unique nonce counts`() async throws {
    let shop = try shop(limits: ThrottleLimits(perHost: 64))
    let seen = Shared<Set<String>>([])
    shop.mock.route("/orders") { request in
      guard let answer = Self.answer(request) else { return Self.challenge("n1") }
      let isNew = seen.withLock { $0.insert(answer["nc"] ?? "").inserted }
      return isNew && answer["nonce"] == "n1" ? .text("in") : .status(400)
    }
    let calls = (0..<64).map { _ in Task { try await Order().on(shop.server).run().status } }
    for call in calls { #expect(try await call.value == .ok) }
    #expect(seen.withLock { $0 } == Set((1...64).map { String(format: "%08x", $0) }))
  }

  @Test func `queued calls use the challenge that earlier calls received`() async throws {
    let shop = try shop(limits: ThrottleLimits(perHost: 1))
    shop.mock.route("/orders") { Self.answer($0) == nil ? Self.challenge("n1") : .text("in") }
    let calls = (0..<20).map { _ in Task { try await Order().on(shop.server).run().status } }
    for call in calls { #expect(try await call.value == .ok) }
    #expect(shop.mock.requests.count { Self.answer($0) == nil } < 20)
  }

  @Test func `every call succeeds if the server accepts each nonce only once`() async throws {
    let shop = try shop(limits: ThrottleLimits(perHost: 8))
    let (count, used) = (Shared(0), Shared<Set<String>>([]))
    shop.mock.route("/orders") { request in
      let next = count.withLock { count in
        count += 1
        return "n\(count)"
      }
      guard let nonce = Self.answer(request)?["nonce"] else { return Self.challenge(next) }
      return used.withLock { $0.insert(nonce).inserted } ? .text("in") : Self.challenge(next, more: ", stale=true")
    }
    let calls = (0..<64).map { _ in Task { try await Order().on(shop.server).run().status } }
    for call in calls { #expect(try await call.value == .ok) }
    #expect(used.withLock { $0.count } == 64)
  }
}
