import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Caching of authenticated and redirected calls.
@Suite(.timeLimit(.minutes(1))) struct CachedAccountsTests {
  private func shop(_ tokens: NumberedTokens) -> CachedShop {
    CachedShop(configure: { $0.authentication = .custom(tokens) }) { number, request in
      guard tokens.isGood(request) else { return .status(.unauthorized, for: request) }
      return .text("\(number)", [.cacheControl: "max-age=60", .vary: "X-Numbered"], for: request)
    }
  }

  @Test func `stores a response for its account, regardless of the token`() async throws {
    let tokens = NumberedTokens()
    let shop = shop(tokens)
    #expect(try await shop.get() == ("1", "errand; fwd=uri-miss; stored"))
    tokens.revoke()
    #expect(try await shop.get() == ("1", "errand; hit; ttl=60"))
    shop.clock.advance(by: .seconds(61))
    #expect(
      try await shop.get() == ("3", "errand; fwd=stale; stored"),
      "request 2 was rejected, and request 3 has a new token")
    #expect(try await shop.get() == ("3", "errand; hit; ttl=60"))
    #expect(await shop.cache.entries(for: .widget()).isEmpty, "no response is stored without an account")
  }

  @Test(arguments: ["https://other.test/bounce", "/bounce"])
  func `does not store a response for an account if a redirect drops the account's token`(place: String) async throws {
    let signIn = Authentication.bearer("ann").forPaths(below: "/widgets")
    let shop = CachedShop(configure: { $0.authentication = signIn }) { number, request in
      if number == 1 { return .status(.found, headers: [.location: place], for: request) }
      if request.url.path == "/bounce" {
        return .status(.found, headers: [.location: "https://shop.test/widgets/7"], for: request)
      }
      return .text(request.headers[.authorization] ?? "guest", [.cacheControl: "max-age=60"], for: request)
    }
    #expect(try await shop.get().text == "guest")
    #expect(try await shop.get().text == "Bearer ann")
  }

  @Test(arguments: [false, true])
  func `does not store a response to a request without the account's token`(hasKey: Bool) async throws {
    struct Guest: Authenticator {
      let token: Shared<String?>
      func apply(_ token: String, to request: inout HTTPRequest) { request.headers["X-Token"] = token }
      func refresh(_ old: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
        token.withLock { $0 }
      }
    }
    let token = Shared<String?>(nil)
    let shop = CachedShop(configure: { configuration in
      let guest = Authentication.custom(Guest(token: token))
      configuration.authentication = hasKey ? .all([.apiKey("key", header: "X-Key"), guest]) : guest
    }) { _, request in
      .text(request.headers["X-Token"] ?? "guest", [.cacheControl: "max-age=60"], for: request)
    }
    #expect(try await shop.get() == ("guest", "errand; fwd=uri-miss"))
    token.withLock { $0 = "ann" }
    #expect(try await shop.get() == ("ann", "errand; fwd=uri-miss; stored"))
    #expect(try await shop.get() == ("ann", "errand; hit; ttl=60"))
  }

  @Test func `does not store a 401, even with max-age`() async throws {
    let shop = CachedShop { number, request in
      .text("\(number)", [.cacheControl: "max-age=3600"], status: number == 1 ? .unauthorized : .ok, for: request)
    }
    #expect(try await shop.get(shop.task().accepting(.all)) == ("1", "errand; fwd=uri-miss"))
    #expect(try await shop.get() == ("2", "errand; fwd=uri-miss; stored"))
  }

  /// An authenticator that treats a 403 or an `X-Signed-Out` header as a rejected token.
  private struct Particular: Authenticator {
    func storedToken() async throws -> String? { "token" }
    func apply(_ token: String, to request: inout HTTPRequest) { request.headers["X-Session"] = token }
    func refresh(_ token: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
      nil
    }
    func isAuthenticationFailure(_ response: HTTPResponse) -> Bool {
      response.status == .forbidden || response.headers.contains("X-Signed-Out")
    }
  }

  @Test func `a response that the authenticator rejects is not stored and replaces no stored response`() async throws {
    let shop = CachedShop(configure: { $0.authentication = .custom(Particular()) }) { number, request in
      let signedOut: HTTPHeaders = number == 4 ? ["X-Signed-Out": "1"] : [:]
      var headers: HTTPHeaders = [.cacheControl: "max-age=60, stale-if-error=600"]
      headers.replace(with: signedOut)
      return .text("\(number)", headers, status: number == 1 ? .forbidden : .ok, for: request)
    }
    #expect(try await shop.get(shop.task().accepting(.all)).status == "errand; fwd=uri-miss")
    #expect(try await shop.get() == ("2", "errand; fwd=uri-miss; stored"))
    shop.clock.advance(by: .seconds(61))
    #expect(try await shop.get() == ("3", "errand; fwd=stale; stored"))
    shop.clock.advance(by: .seconds(61))
    #expect(try await shop.get() == ("4", "errand; fwd=stale"))
    #expect(try await shop.get("widgets/7", .cacheOnly).text == "3")
  }

  @Test func `separates the responses of different accounts and unauthenticated calls`() async throws {
    let shop = CachedShop([.cacheControl: "max-age=60"])
    func get(_ authentication: Authentication) async throws -> String {
      try await shop.get(shop.task().authenticated(authentication)).text
    }
    #expect(try await get(.bearer("a")) == "1")
    #expect(try await get(.bearer("b")) == "2")
    #expect(try await get(.none) == "3")
    #expect(try await get(.bearer("c").forAccount("carla")) == "4")
    for (text, authentication) in [
      ("1", .bearer("a")), ("2", .bearer("b")), ("3", .none), ("4", .bearer("d").forAccount("carla")),
    ] as [(String, Authentication)] {
      #expect(try await get(authentication) == text)
    }
    #expect(shop.sentCount == 4)
  }

  private enum AccountKey: TaskContextKey { static let defaultValue = "" }

  /// An authenticator with one token per value of a header field or of the task's context.
  private struct Accounts: Authenticator {
    let byHeader: Bool

    func tokenKey(for request: HTTPRequest) -> String {
      byHeader ? request.headers["X-Account"] ?? "" : request.options.context[AccountKey.self]
    }

    func apply(_ token: String, to request: inout HTTPRequest) { request.headers[.authorization] = "Bearer \(token)" }

    func refresh(_ token: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
      context.tokenKey
    }
  }

  @Test(arguments: [true, false], [nil, "ours"])
  func `separates responses by token key`(byHeader: Bool, name: String?) async throws {
    let accounts = Authentication.custom(Accounts(byHeader: byHeader))
    let shop = CachedShop(configure: { $0.authentication = name.map { accounts.forAccount($0) } ?? accounts }) {
      _, request in
      .text(
        request.headers[.authorization] ?? "none", [.cacheControl: "private, max-age=60", .vary: "Authorization"],
        for: request)
    }
    func get(_ account: String) async throws -> String {
      let task = shop.task()
      return try await byHeader
        ? shop.get(task.header("X-Account", account)).text : shop.get(task.context(AccountKey.self, account)).text
    }
    for _ in 0..<2 {
      for account in ["ann", "bob", ""] { #expect(try await get(account) == "Bearer \(account)") }
    }
    #expect(shop.sentCount == 3)
  }

  @Test func `does not store a response if a step changed the token key`() async throws {
    struct Moving: PerAttemptStep {
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        request.options.context[AccountKey.self] = "bob"
        return try await next(request)
      }
    }
    let shop = CachedShop(configure: {
      $0.authentication = .custom(Accounts(byHeader: false))
      $0.perAttemptSteps = [Moving()]
    }) { _, request in .text(request.headers[.authorization] ?? "none", [.cacheControl: "max-age=60"], for: request) }
    let ann = shop.task().context(AccountKey.self, "ann")
    #expect(try await shop.get(ann) == ("Bearer bob", "errand; fwd=uri-miss"))
    let bob = shop.task().context(AccountKey.self, "bob")
    #expect(try await shop.get(bob) == ("Bearer bob", "errand; fwd=uri-miss; stored"))
  }

  @Test func `does not store a response if the cookies changed during the call`() async throws {
    struct SigningIn: PerAttemptStep {
      let jar: CookieJar
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        jar.receive(["user=bob; Path=/"], from: request.url)
        return try await next(request)
      }
    }
    let jar = CookieJar()
    let shop = CachedShop(configure: { configuration in
      configuration.cookiePolicy = .shared(jar)
      configuration.perAttemptSteps = [SigningIn(jar: jar)]
    }) { _, request in .text(request.headers[.cookie] ?? "", [.cacheControl: "max-age=60"], for: request) }
    jar.receive(["user=alice"], from: .known("https://shop.test/"))
    #expect(try await shop.get() == ("user=bob", "errand; fwd=uri-miss"))
    #expect(try await shop.get() == ("user=bob", "errand; fwd=uri-miss; stored"))
    #expect(try await shop.get() == ("user=bob", "errand; hit; ttl=60"))
    jar.receive(["user=alice"], from: .known("https://shop.test/"))
    #expect(
      try await shop.get() == ("user=bob", "errand; fwd=uri-miss"), "Bob's response to Alice's request is not stored")
  }

  @Test func `does not coalesce calls from different accounts`() async throws {
    let gate = Gate()
    let shop = CachedShop(
      configure: {
        $0.coalescesRequests = true
        $0.cache = nil
      },
      answer: { _, request in
        await gate.wait()
        return .text(request.headers[.authorization] ?? "", for: request)
      })
    let names = ["a", "b", "a"]
    let calls = names.map { name in Task { try await shop.task().authenticated(.bearer(name)).download() } }
    #expect(await eventually { shop.events.moments().count { $0.hasPrefix("joined") } == 3 })
    gate.open()
    for (name, call) in zip(names, calls) { #expect(try await call.value == "Bearer \(name)") }
    #expect(shop.sentCount == 2)
  }

  /// Creates a shop that redirects `/old` to `/new` and every POST to `/widgets/8`. Other responses contain the
  /// request's number.
  private func redirecting(
    configure: (inout ServerConfiguration) -> Void = { _ in }
  ) -> CachedShop {
    CachedShop(configure: configure) { number, request in
      let headers: HTTPHeaders = [.cacheControl: "max-age=60"]
      if request.method == .post {
        return .status(303, headers: [.location: "/widgets/8", .cacheControl: "max-age=60"], for: request)
      }
      guard request.url.path == "/old" else { return .text("\(number)", headers, for: request) }
      return .status(301, headers: [.location: "/new", .cacheControl: "max-age=60"], for: request)
    }
  }

  @Test func `does not store a redirect or its target under the redirected URL`() async throws {
    let shop = redirecting()
    let refusing = shop.task("old").redirects(.refuse).accepting(.all)
    #expect(try await refusing.run().status == 301)
    let followed = try await shop.task("old").response()
    #expect(followed.text == "3" && followed.response.redirects.count == 1)
    #expect(followed.headers[.cacheStatus] == "errand; fwd=uri-miss")
    #expect(try await shop.get("new").text == "4")
    #expect(try await refusing.run().status == 301 && shop.sentCount == 5)
  }

  // RFC 9111 §4.4: a 3xx is not an error.
  @Test func `a redirected POST removes the stored responses for its URL and its target`() async throws {
    let shop = redirecting()
    for path in ["widgets", "widgets/8", "widgets/9"] { _ = try await shop.get(path) }
    let made = try await CachedTask(path: "widgets", httpMethod: .post).on(shop.server).response()
    #expect(made.text == "5" && made.response.url.path == "/widgets/8")
    #expect(try await shop.get("widgets").text == "6")
    #expect(try await shop.get("widgets/8").text == "7")
    #expect(try await shop.get("widgets/9").text == "3")
  }

  @Test func `does not coalesce calls with different settings`() async throws {
    let gate = Gate()
    let shop = CachedShop(configure: { $0.coalescesRequests = true }) { number, request in
      await gate.wait()
      return .text("\(number)", status: number == 1 ? 404 : .ok, for: request)
    }
    let tasks = [
      shop.task(), shop.task().accepting(.all), shop.task().redirects(.refuse), shop.task().retry(.never),
      shop.task("widgets/7", .reload), shop.task().timeout(.seconds(7)), shop.task().addresses(.any),
      shop.task().cookies(.none),
    ]
    let calls = tasks.map { task in Task { try await task.download() } }
    #expect(await eventually { shop.sentCount == tasks.count })
    gate.open()
    for call in calls { _ = await call.result }
    #expect(shop.sentCount == tasks.count)
  }

  @Test func `does not coalesce requests whose preflight sets different address policies`() async throws {
    let gate = Gate()
    let rules = (AddressPolicy.allowing { _, _ in true }, AddressPolicy.allowing { _, _ in true })
    let shop = CachedShop(configure: {
      $0.coalescesRequests = true
      $0.preflight = { task, request in
        request.options.addressPolicy = request.headers["Accept-Language"] == "de" ? rules.0 : rules.1
        request.headers["Accept-Language"] = nil
      }
    }) { number, request in
      await gate.wait()
      return .text("\(number)", for: request)
    }
    let calls = ["de", "fr", "fr"].map { language in
      Task { try await shop.task().header("Accept-Language", language).download() }
    }
    #expect(await eventually { shop.events.moments().count { $0.hasPrefix("joined") } == 3 })
    #expect(await eventually { shop.sentCount == 2 })
    gate.open()
    var texts: [String] = []
    for call in calls { texts.append(try await call.value) }
    #expect(texts[0] != texts[1] && texts[1] == texts[2])
  }
}
