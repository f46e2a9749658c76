import Errand
import ErrandTesting
import Foundation
import Testing

/// Tokens that expire during hundreds of calls, on real sockets.
@Suite(.balancedEvents, .timeLimit(.minutes(3))) struct RefreshJourneyTests {
  /// A shop that is also its authorization server and rotates refresh tokens.
  private struct TokenShop {
    struct State {
      var issued = 1
      var valid = "t0"
      var refreshTokens: Set<String> = ["r0"]
      var refreshes = 0
      var reused = 0
      var isClosed = false
    }

    let state = Shared(State())
    let shop: Shop
    let server: Server

    init(limits: ThrottleLimits = ThrottleLimits(perHost: 32), clock: CallClock? = nil) throws {
      let shop = try Shop(limits: limits)
      self.shop = shop
      server =
        clock.map { Server(Remote(shop.mock.url), manager: TaskManager(limits: limits, clock: $0)) }
        ?? shop.server
      let state = state
      shop.mock.route(.post, "/token") { request in
        let form = String(decoding: request.body, as: UTF8.self).split(separator: "&")
        let token = form.first { $0.hasPrefix("refresh_token=") }.map { String($0.dropFirst("refresh_token=".count)) }
        return state.withLock { state in
          state.refreshes += 1
          if state.isClosed { return .json(#"{"error":"temporarily_unavailable"}"#, status: 400) }
          guard state.refreshTokens.remove(token ?? "") != nil else {
            state.reused += 1
            return .json(#"{"error":"invalid_grant"}"#, status: 400)
          }
          defer { state.issued += 1 }
          state.valid = "t\(state.issued)"
          state.refreshTokens = ["r\(state.issued)"]
          return .json(
            #"{"access_token":"t\#(state.issued)","token_type":"Bearer","refresh_token":"r\#(state.issued)"}"#)
        }
      }
      shop.mock.route("/plain") { request in
        let isGood = request.headers[.authorization] == "Bearer \(state.withLock { $0.valid })"
        return isGood ? .text("fine") : .status(401, headers: [.wwwAuthenticate: "Bearer error=\"invalid_token\""])
      }
    }

    /// Authenticates the shop's calls, starting with an invalid token.
    func signIn(grant: String = "r0") async throws {
      let store = MemorySecretStore()
      let old = AccessToken("old", issued: Date(), refreshToken: grant)
      try await store.setSecret(try JSONEncoder().encode(old), named: "ann")
      var settings = OAuth2(
        tokenURL: shop.url("token"), client: .init(id: "app", secret: "s"), grant: .refreshToken(grant))
      (settings.store, settings.storeName) = (store, "ann")
      let authentication = Authentication.oauth2(settings)
      await server.update { $0.authentication = authentication }
    }

    func calls(_ count: Int) -> [Task<HTTPStatus, any Error>] {
      (0..<count).map { _ in Task { try await PlainTask().on(server).run().status } }
    }
  }

  @Test func `3,000 calls with an expired token succeed after a single refresh`() async throws {
    let tokens = try TokenShop()
    try await tokens.signIn()
    for call in tokens.calls(3000) { #expect(try await call.value == .ok) }
    #expect(tokens.state.withLock { $0.refreshes } == 1 && tokens.state.withLock { $0.reused } == 0)
    #expect(tokens.shop.isQuiet)
  }

  @Test func `with token rotation, no refresh token is used twice`() async throws {
    let tokens = try TokenShop()
    try await tokens.signIn()
    for round in 1...10 {
      for call in tokens.calls(50) { #expect(try await call.value == .ok) }
      #expect(tokens.state.withLock { $0.refreshes } == round && tokens.state.withLock { $0.reused } == 0)
      tokens.state.withLock { $0.valid = "revoked" }
    }
  }

  @Test func `does not deadlock if the server and its token endpoint share one slot`() async throws {
    let tokens = try TokenShop(limits: ThrottleLimits(perHost: 1))
    try await tokens.signIn()
    for call in tokens.calls(20) { #expect(try await call.value == .ok) }
    #expect(tokens.state.withLock { $0.refreshes } == 1)
  }

  @Test func `a failed refresh fails all waiting calls with its error`() async throws {
    let tokens = try TokenShop()
    try await tokens.signIn()
    tokens.state.withLock { $0.isClosed = true }
    for call in tokens.calls(300) {
      let error = await #expect(throws: TaskError.self) { try await call.value }
      #expect(error?.code == .authenticationFailed && error?.reason.contains("temporarily_unavailable") == true)
    }
    #expect(tokens.shop.mock.requests.count { $0.path == "/plain" } <= 300)
    #expect(tokens.shop.isQuiet)
  }

  @Test(arguments: 1...3) func `randomly cancelled callers do not affect the other callers`(seed: UInt64) async throws {
    let tokens = try TokenShop()
    try await tokens.signIn()
    var random = SeededGenerator(seed: seed)
    let calls = tokens.calls(200)
    let cancelled = Set((0..<200).filter { _ in Bool.random(using: &random) })
    for index in cancelled.shuffled(using: &random) {
      if Bool.random(using: &random) { await giveWay() }
      calls[index].cancel()
    }
    for (index, call) in calls.enumerated() {
      do {
        #expect(try await call.value == .ok)
      } catch {
        #expect(cancelled.contains(index) && error is CancellationError, "\(error)")
      }
    }
    #expect(tokens.state.withLock { $0.refreshes } == 1 && tokens.state.withLock { $0.reused } == 0)
    #expect(tokens.shop.isQuiet)
  }

  @Test func `a 401 with a small body leaves its connection reusable`() async throws {
    let tokens = try TokenShop(limits: ThrottleLimits(perHost: 1))
    try await tokens.signIn()
    for call in tokens.calls(1) { #expect(try await call.value == .ok) }
    #expect(tokens.shop.mock.connectionCount == (keepsConnections ? 1 : 3) && tokens.shop.mock.requestCount == 3)
  }

  @Test func `a 401 with a slow or large body does not delay the refresh`() async throws {
    for slow in [
      MockAnswer.data(Data(count: 100), status: 401).throttled(bytes: 1, every: .seconds(3600)),
      .data(Data(count: 1 << 20), status: 401),
    ] {
      let tokens = try TokenShop(clock: CallClock(ManualClock(.autoAdvancing)))
      try await tokens.signIn()
      tokens.shop.mock.enqueue(slow)
      #expect(try await PlainTask().on(tokens.server).stream().body.collect() == Data("fine".utf8))
    }
  }
}
