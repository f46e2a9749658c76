import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Calls that are running when the app forgets their user's tokens.
@Suite(.timeLimit(.minutes(1))) struct SignOutTests {
  /// An app with one user at a time. Each user's token is the user's name.
  private struct Users {
    let signIn: Authentication
    private let user = Shared("ann")

    init() { signIn = .bearer { [user] in user.withLock { $0 } } }

    func change(to name: String) async throws {
      try await signIn.forget()
      user.withLock { $0 = name }
    }
  }

  private let users = Users()
  private let sent = Shared<[String?]>([])
  private let reached = Gate()
  private let mayContinue = Gate()

  private func note(_ request: HTTPRequest) { sent.withLock { $0.append(request.headers[.authorization]) } }

  private func pause() async {
    reached.open()
    await mayContinue.wait()
  }

  private func code(_ task: some ServerTask) async -> TaskError.Code? { await taskError { try await task.run() }?.code }

  @Test(arguments: [HTTPStatus.unauthorized, .serviceUnavailable])
  func `a request that fails after a sign-out is not resent with the next user's token`(
    status: HTTPStatus
  ) async throws {
    let shop = VirtualShop(configure: { $0.authentication = users.signIn }) { [self] number, request, _ in
      note(request)
      guard number == 1 else { return .ok(request) }
      await pause()
      return .status(status, for: request)
    }
    let post = shop.task(method: .post).idempotency(.key).retry(.fixed(retries: 1, delay: .zero))
    let call = Task { await code(post) }
    await reached.wait()
    try await users.change(to: "bob")
    mayContinue.open()
    #expect(await call.value == .authenticationFailed)
    try await shop.task().run()
    #expect(sent.withLock { $0 } == ["Bearer ann", "Bearer bob"])
  }

  @Test func `a call that waits in a serial queue during a sign-out fails and sends nothing`() async throws {
    let shop = VirtualShop(configure: { $0.authentication = users.signIn }) { [self] number, request, _ in
      note(request)
      if number == 1 { await pause() }
      return .ok(request)
    }
    let post = shop.task(method: .post).serialQueue(.named("posts"))
    let first = Task { await code(post) }
    await reached.wait()
    let second = Task { await code(post) }
    #expect(await eventually { shop.manager.callCount == 2 })
    try await users.change(to: "bob")
    mayContinue.open()
    #expect(await first.value == nil, "the request sent before the sign-out was answered")
    #expect(await second.value == .authenticationFailed)
    try await post.run()
    #expect(sent.withLock { $0 } == ["Bearer ann", "Bearer bob"])
  }

  /// Creates a shop whose request number `paused` waits in its preflight.
  private func shop(
    _ authentication: Authentication, pausing paused: Int, configure: (inout ServerConfiguration) -> Void = { _ in }
  ) -> CachedShop {
    let built = Shared(0)
    return CachedShop(configure: { [self] in
      $0.authentication = authentication
      $0.preflight = { _, _ in
        let number = built.withLock { built in
          built += 1
          return built
        }
        if number == paused { await pause() }
      }
      configure(&$0)
    }) { [self] _, request in
      note(request)
      return .text(
        request.headers[.authorization] ?? "none", [.cacheControl: "max-age=10, stale-while-revalidate=600"],
        for: request)
    }
  }

  @Test(arguments: [false, true])
  func `a call or shared request that is built during a sign-out sends nothing`(isShared: Bool) async throws {
    let shop = shop(users.signIn.forAccount("all"), pausing: 2) { $0.coalescesRequests = isShared }
    _ = try await shop.get("first")
    let call = Task { await taskError { _ = try await shop.task().download() }?.code }
    await reached.wait()
    try await users.change(to: "bob")
    mayContinue.open()
    #expect(await call.value == .authenticationFailed)
    #expect(try await shop.get() == ("Bearer bob", "errand; fwd=uri-miss; stored"))
    #expect(sent.withLock { $0 } == ["Bearer ann", "Bearer bob"])
  }

  @Test func `a background validation does not store another user's response`() async throws {
    let shop = shop(users.signIn.forAccount("ann"), pausing: 3)
    _ = try await shop.get()
    shop.clock.advance(by: .seconds(20))
    #expect(try await shop.get().text == "Bearer ann")
    await reached.wait()
    try await users.change(to: "bob")
    await shop.server.update { $0.authentication = users.signIn.forAccount("bob") }
    mayContinue.open()
    #expect(await eventually { shop.server.manager.callCount == 0 && shop.events.isBalanced })
    await shop.server.update { $0.authentication = users.signIn.forAccount("ann") }
    #expect(try await shop.get("widgets/7", .cacheOnly).text == "Bearer ann")
    #expect(sent.withLock { $0 } == ["Bearer ann"])
  }

  @Test(arguments: [false, true])
  func `a response that arrives after a sign-out is not stored`(isRejected: Bool) async throws {
    let shop = CachedShop(configure: { $0.authentication = users.signIn.forAccount("ann") }) {
      [self] number, request in
      note(request)
      if number == 1 {
        await pause()
        if isRejected { return .status(.unauthorized, for: request) }
      }
      return .text(request.headers[.authorization] ?? "none", [.cacheControl: "max-age=600"], for: request)
    }
    let call = Task { try await shop.get() }
    await reached.wait()
    try await users.change(to: "bob")
    mayContinue.open()
    if isRejected {
      #expect(await taskError { _ = try await call.value }?.code == .authenticationFailed)
    } else {
      #expect(try await call.value == ("Bearer ann", "errand; fwd=uri-miss"))
    }
    #expect(await taskError { _ = try await shop.get("widgets/7", .cacheOnly) }?.code == .notCached)
  }

  @Test func `a body that ends after a sign-out is not stored`() async throws {
    let shop = CachedShop(configure: { $0.authentication = users.signIn.forAccount("ann") }) { _, request in
      .text("data", [.cacheControl: "max-age=600"], for: request)
    }
    let response = try await shop.task().stream()
    try await users.change(to: "bob")
    #expect(try await response.body.collect() == Data("data".utf8))
    #expect(await taskError { _ = try await shop.get("widgets/7", .cacheOnly) }?.code == .notCached)
  }

  @Test func `a call started before forget() never uses a later token, even if the call had no token`() async throws {
    let shop = shop(users.signIn, pausing: 1)
    let call = Task { try await shop.get().text }
    await reached.wait()
    try await users.signIn.forget()
    mayContinue.open()
    await #expect(throws: TaskError.self) { try await call.value }
  }

  @Test func `updates() throws after a sign-out`() async throws {
    let shop = shop(users.signIn, pausing: 0)
    _ = try await shop.get()
    var updates = shop.task().updates().makeAsyncIterator()
    #expect(try await updates.next()?.payload == "Bearer ann")
    try await users.change(to: "bob")
    #expect(await taskError { _ = try await updates.next() }?.code == .authenticationFailed)
    #expect(sent.withLock { $0 } == ["Bearer ann"])
  }

  @Test func `a started handle never uses a token from a later sign-in`() async throws {
    let shop = VirtualShop(configure: { $0.authentication = users.signIn }) { [self] _, request, _ in
      note(request)
      return .ok(request)
    }
    for _ in 0..<200 {
      let handle: TaskHandle<HTTPResponse> = shop.server.manager.start(shop.task(method: .post))
      try await users.change(to: "bob")
      _ = try? await handle.value
      try await users.change(to: "ann")
    }
    #expect(!sent.withLock { $0 }.contains("Bearer bob"))
  }

  @Test func `a call that waits for a network during a sign-out fails and sends nothing more`() async throws {
    struct Network: Reachability {
      let signOut: @Sendable () async throws -> Void

      func waitUntilReachable(_ origin: Origin, failures: Int, clock: CallClock) async throws { try await signOut() }
    }
    let network = Network { [users] in try await users.change(to: "bob") }
    let shop = VirtualShop(configure: {
      $0.authentication = users.signIn
      $0.waitsForConnectivity = true
      $0.reachability = network
    }) { [self] number, request, _ in
      note(request)
      if number == 1 { throw TaskError(.offline, "no network", phase: .connecting, wasNotSent: true) }
      return .ok(request)
    }
    let call = Task { await code(shop.task(method: .post)) }
    await shop.clock.pass(.seconds(1), sleepers: 2)
    #expect(await call.value == .authenticationFailed)
    #expect(sent.withLock { $0 } == ["Bearer ann"])
  }

  @Test func `a redirect is not followed after a sign-out`() async throws {
    let shop = VirtualShop(configure: {
      $0.authentication = users.signIn
      $0.redirectPolicy = .decide { [users] _, next in
        try await users.change(to: "bob")
        return next
      }
    }) { [self] number, request, _ in
      note(request)
      return number == 1 ? .status(.temporaryRedirect, headers: [.location: "/moved"], for: request) : .ok(request)
    }
    #expect(await code(shop.task(method: .post)) == .authenticationFailed)
    #expect(sent.withLock { $0 } == ["Bearer ann"])
  }

  @Test func `a Digest challenge is not answered after a sign-out`() async throws {
    let signIn = Authentication.digest(user: "ann", password: "secret")
    let shop = VirtualShop(configure: { $0.authentication = signIn }) { [self] _, request, _ in
      note(request)
      try await signIn.forget()
      let challenge = #"Digest realm="shop", nonce="1", qop="auth", algorithm=SHA-256"#
      return .status(.unauthorized, headers: ["WWW-Authenticate": challenge], for: request)
    }
    #expect(await code(shop.task(method: .post)) == .authenticationFailed)
    #expect(sent.withLock { $0 } == [nil])
  }

  @Test func `forgets all tokens, even if one can't be removed`() async throws {
    struct Key: Authenticator {
      struct NotRemoved: Error {}

      let name: HTTPHeaderName
      let user: Shared<String>

      func apply(_ token: String, to request: inout HTTPRequest) { request.headers[name] = token }
      func forget() async throws { if name == "X-Shop" { throw NotRemoved() } }
      func refresh(_ token: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
        user.withLock { $0 }
      }
    }
    let user = Shared("ann")
    let (first, second) = (Key(name: "X-Shop", user: user), Key(name: "X-Depot", user: user))
    let signIn = Authentication.all([.custom(first), .custom(second)])
    let shop = VirtualShop(configure: { $0.authentication = signIn }) { [sent] _, request, _ in
      sent.withLock { $0 += [request.headers["X-Shop"], request.headers["X-Depot"]] }
      return .ok(request)
    }
    try await shop.task().run()
    await #expect(throws: Key.NotRemoved.self) { try await signIn.forget() }
    user.withLock { $0 = "bob" }
    try await shop.task().run()
    #expect(sent.withLock { $0 } == ["ann", "ann", "bob", "bob"])
  }

  @Test func `forget() does not affect a call to a path outside of forPaths`() async throws {
    let shop = shop(users.signIn.forPaths(below: "/account"), pausing: 2)
    #expect(try await shop.get("account").text == "Bearer ann")
    let call = Task { try await shop.get("public").text }
    await reached.wait()
    try await users.change(to: "bob")
    mayContinue.open()
    #expect(try await call.value == "none")
  }

  @Test func `a server never reuses an anonymous account after forget()`() async throws {
    let accounts = Shared<[String?]>([])
    let shop = VirtualShop(configure: { $0.authentication = users.signIn }) { _, request, _ in
      accounts.withLock { $0.append(request.options.account) }
      return .ok(request)
    }
    for _ in 0..<3 {
      try await shop.task().run()
      try await users.signIn.forget()
      try await users.signIn.forget()
    }
    #expect(Set(accounts.withLock { $0 }).count == 3)
  }
}
