import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Calls to `forget()` during a refresh or a removal.
@Suite(.timeLimit(.minutes(1))) struct ForgettingTests {
  private struct Refused: Error {}

  /// An authenticator whose refresh or removal can call `forget()`.
  private final class Desk: Authenticator {
    let authentication = Shared<Authentication?>(nil)
    let asked = Counter()
    let removed = Counter()
    let isAgeing = Shared(false)
    private let isSigningOut: Bool
    private let fails: Bool
    private let leaves: Bool
    private let stored: String?

    /// If `isSigningOut` is true, a refresh of an existing token calls `forget()`, then throws if `fails` is true and
    /// returns `nil` otherwise. If `leaves` is true, a removal also calls `forget()`.
    init(isSigningOut: Bool = false, fails: Bool = true, leaves: Bool = false, stored: String? = nil) {
      self.isSigningOut = isSigningOut
      self.fails = fails
      self.leaves = leaves
      self.stored = stored
    }

    func storedToken() async throws -> String? { stored }

    func freshness(of token: String, at now: Date) -> TokenFreshness {
      token == stored && isAgeing.withLock { $0 } ? .expiring : .good
    }

    func apply(_ token: String, to request: inout HTTPRequest) { request.headers["X-Token"] = token }

    func refresh(_ token: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
      asked.add()
      guard isSigningOut, token != nil else { return "t\(asked.count)" }
      try await authentication.withLock { $0 }?.forget()
      if fails { throw Refused() }
      return nil
    }

    func forget() async throws {
      removed.add()
      if leaves { try await authentication.withLock { $0 }?.forget() }
    }
  }

  /// Creates a shop that rejects the token `refuses` and records all tokens.
  private func shop(_ authentication: Authentication, _ sent: Shared<[String?]>, refuses: String? = nil) -> VirtualShop
  {
    VirtualShop(
      configure: { $0.authentication = authentication },
      answer: { _, request, _ in
        let token = request.headers["X-Token"] ?? request.headers[.authorization]
        sent.withLock { $0.append(token) }
        return token == refuses ? .status(.unauthorized, for: request) : .ok(request)
      })
  }

  @Test func `a token closure can call forget() and then return a new token`() async throws {
    let (own, asked, sent) = (Shared<Authentication?>(nil), Counter(), Shared<[String?]>([]))
    let authentication = Authentication.bearer {
      asked.add()
      try await own.withLock { $0 }?.forget()
      return "fresh\(asked.count)"
    }
    own.withLock { $0 = authentication }
    let shop = shop(authentication, sent)
    for _ in 0..<2 { try await shop.task().run() }
    #expect(sent.withLock { $0 } == ["Bearer fresh1", "Bearer fresh1"] && asked.count == 1)
    try await authentication.forget()
    try await shop.task().run()
    #expect(sent.withLock { $0.last } == "Bearer fresh2")
  }

  /// An authenticator that requests its token in a serial queue and stores the token.
  private struct Session: Authenticator {
    let stored: Shared<String?>
    let server: Shared<Server?>
    let begun: Gate

    func storedToken() async throws -> String? { stored.withLock { $0 } }
    func apply(_ token: String, to request: inout HTTPRequest) { request.headers["X-Token"] = token }
    func freshness(of token: String, at now: Date) -> TokenFreshness { token == "old" ? .ended : .good }
    func refresh(_ token: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
      guard token != nil, let server = server.withLock({ $0 }) else { return nil }
      begun.open()
      try await PlainTask(path: "token").on(server).authenticated(.none).serialQueue(.named("account")).run()
      stored.withLock { $0 = "new" }
      return "new"
    }
    func forget() async throws { stored.withLock { $0 = nil } }
  }

  @Test func `calling forget() from a serial queue cancels a refresh that waits for this queue`() async throws {
    let (stored, place, begun) = (Shared<String?>("old"), Shared<Server?>(nil), Gate())
    let authentication = Authentication.custom(Session(stored: stored, server: place, begun: begun))
    let stub = StubServer(.status(.ok)) { configuration in
      configuration.authentication = authentication
      configuration.postflight = { task, _ in
        guard (task as? PlainTask)?.path == "logout" else { return }
        await begun.wait()
        await giveWay(200)
        try await authentication.forget()
      }
    }
    place.withLock { $0 = stub.server }
    let logout = Task {
      try await PlainTask(path: "logout").on(stub.server).authenticated(.none).serialQueue(.named("account")).run()
    }
    #expect(await eventually { stub.requests.count == 1 })
    _ = try? await GetWidget(id: 7).on(stub.server).run()  // its refresh waits for the queue
    _ = try await logout.value
    #expect(await eventually { stored.withLock { $0 } == nil })
    try await GetWidget(id: 8).on(stub.server).run()
    #expect(stub.requests.last?.headers.contains("X-Token") == false && stored.withLock { $0 } == nil)
    #expect(!stub.urls.contains("https://shop.test/token"), "\(stub.urls)")
    place.withLock { $0 = nil }
  }

  @Test func `a call fails if its refresh calls forget() and throws, and the next call refreshes again`() async throws {
    let (coordinator, sent) = (Desk(isSigningOut: true), Shared<[String?]>([]))
    let authentication = Authentication.custom(coordinator)
    coordinator.authentication.withLock { $0 = authentication }
    let shop = shop(authentication, sent, refuses: "t1")
    await #expect(throws: Refused.self) { try await shop.task().run() }
    #expect(coordinator.removed.count == 1 && coordinator.asked.count == 2)
    shop.clock.advance(by: .seconds(1))
    #expect(try await shop.task().run().status == .ok)
    #expect(sent.withLock { $0 } == ["t1", "t3"])
    try await authentication.forget()
    #expect(coordinator.removed.count == 2)
  }

  @Test(arguments: [true, false], [true, false])
  func `does not send an expiring token that a refresh has forgotten`(isLoaded: Bool, fails: Bool) async throws {
    let (coordinator, sent) = (Desk(isSigningOut: true, fails: fails, stored: "old"), Shared<[String?]>([]))
    let authentication = Authentication.custom(coordinator)
    coordinator.authentication.withLock { $0 = authentication }
    let shop = shop(authentication, sent, refuses: "none")
    if isLoaded { try await shop.task().run() }
    coordinator.isAgeing.withLock { $0 = true }
    if fails {
      await #expect(throws: Refused.self) { try await shop.task().run() }
    } else {
      try await shop.task().run()
    }
    shop.clock.advance(by: .seconds(1))
    try await shop.task().run()
    #expect(coordinator.removed.count == 1)
    var expected: [String?] = isLoaded ? ["old"] : []
    if !fails { expected.append(nil) }
    #expect(sent.withLock { $0 } == expected + ["t2"])
  }

  @Test func `a removal that calls forget() does not deadlock`() async throws {
    let (coordinator, sent) = (Desk(leaves: true), Shared<[String?]>([]))
    let authentication = Authentication.custom(coordinator)
    coordinator.authentication.withLock { $0 = authentication }
    let shop = shop(authentication, sent)
    try await shop.task().run()
    try await authentication.forget()
    try await shop.task().run()
    #expect(coordinator.removed.count == 1 && sent.withLock { $0 } == ["t1", "t2"])
  }

  @Test func `forget() works in a task that outlives the refresh that started it`() async throws {
    let (own, signOut, may) = (Shared<Authentication?>(nil), Gate(), Gate())
    let (asked, cancelled, left) = (Counter(), Counter(), Shared<Task<Void, any Error>?>(nil))
    let authentication = Authentication.bearer {
      asked.add()
      if asked.count == 1 {
        let task = Task {
          await signOut.wait()
          try await own.withLock { $0 }?.forget()
        }
        left.withLock { $0 = task }
      }
      if asked.count == 2 {
        await withTaskCancellationHandler {
          await may.wait()
        } onCancel: {
          cancelled.add()
        }
      }
      return "t\(asked.count)"
    }
    own.withLock { $0 = authentication }
    let sent = Shared<[String?]>([])
    let shop = shop(authentication, sent, refuses: "Bearer t1")
    let call = Task { await taskError { try await shop.task().run() } }
    await asked.reached(2)
    signOut.open()
    await cancelled.reached(1)
    may.open()
    #expect(await call.value?.code == .authenticationFailed)
    try await left.withLock { $0 }?.value
    try await shop.task().run()
    #expect(sent.withLock { $0.last } == "Bearer t3", "the token of the second refresh was forgotten")
  }

  @Test func `authenticates a call made by a task that outlives the refresh that started it`() async throws {
    let (task, gate, left) = (Shared<Modified<ShopTask>?>(nil), Gate(), Shared<Task<Void, any Error>?>(nil))
    let sent = Shared<[String?]>([])
    let shop = shop(
      .bearer {
        let later = Task {
          await gate.wait()
          _ = try await task.withLock { $0 }?.run()
        }
        left.withLock { $0 = later }
        return "t"
      }, sent)
    task.withLock { $0 = shop.task() }
    try await shop.task().run()
    gate.open()
    try await left.withLock { $0 }?.value
    #expect(sent.withLock { $0 } == ["Bearer t", "Bearer t"])
  }

  @Test func `never authenticates a refresh's own calls, even after the refresh is cancelled`() async throws {
    let (own, isLost, mayAnswer) = (Shared<TaskHandle<String>?>(nil), Gate(), Gate())
    let (asked, logins, server) = (Counter(), Shared<[String?]>([]), Shared<Server?>(nil))
    let shop = VirtualShop(
      configure: {
        $0.retryPolicy = .fixed(retries: 1, delay: .zero)
        $0.authentication = .bearer {
          asked.add()
          let handle = try own.withLock { own in
            let login = CachedTask(path: "login").on(try #require(server.withLock { $0 }))
            own = own ?? login.server.manager.start(login)
            return try #require(own)
          }
          return try await handle.value
        }
      },
      answer: { _, request, _ in
        guard request.url.path == "/login" else { return .text("data", for: request) }
        let count = logins.withLock { logins in
          logins.append(request.headers[.authorization])
          return logins.count
        }
        if count > 1 { return .text("t", for: request) }
        isLost.open()
        await mayAnswer.wait()
        return .unavailable(request)
      })
    server.withLock { $0 = shop.server }
    let first = Task { try await CachedTask(path: "a").on(shop.server).download() }
    await isLost.wait()
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    mayAnswer.open()
    let login = try #require(own.withLock { $0 })
    let isDone = await eventually { login.state.isOver }
    #expect(isDone, "the call waits for its own refresh")
    if !isDone { login.cancel() }
    #expect(try await CachedTask(path: "b").on(shop.server).download() == "data")
    #expect(logins.withLock { $0 } == [nil, nil] && asked.count == 2)
  }

  @Test func `a coalesced request started during a refresh stays unauthenticated when it is retried`()
    async throws
  {
    let (server, isSent, mayAnswer) = (Shared<Server?>(nil), Gate(), Gate())
    let left = Shared<Task<String, any Error>?>(nil)
    let shop = VirtualShop(
      configure: {
        ($0.coalescesRequests, $0.retryPolicy) = (true, .fixed(retries: 1, delay: .zero))
        $0.authentication = .bearer {
          let shop = try #require(server.withLock { $0 })
          let later = Task { try await CachedTask(path: "config").on(shop).download() }
          left.withLock { $0 = later }
          await isSent.wait()
          return "alice"
        }
      },
      answer: { number, request, _ in
        guard request.url.path == "/config" else { return .text("data", for: request) }
        isSent.open()
        await mayAnswer.wait()
        return number == 1 ? .unavailable(request) : .text(request.headers[.authorization] ?? "nobody", for: request)
      })
    server.withLock { $0 = shop.server }
    #expect(try await CachedTask(path: "a").on(shop.server).download() == "data")
    let anonymous = Task { try await CachedTask(path: "config").on(shop.server).authenticated(.none).download() }
    #expect(await eventually { shop.manager.callCount == 2 })
    mayAnswer.open()
    #expect(try await anonymous.value == "nobody")
    #expect(try await left.withLock { $0 }?.value == "nobody")
  }
}
