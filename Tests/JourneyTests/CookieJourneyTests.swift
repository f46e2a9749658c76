import Errand
import ErrandTesting
import Foundation
import Testing

/// Cookies on real sockets.
@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct CookieJourneyTests {
  /// Returns a shop with a page that requires signing in.
  private func shop(_ jar: CookieJar? = nil) throws -> Shop {
    let shop = try Shop { if let jar { $0.cookiePolicy = .shared(jar) } }
    shop.mock.route(.post, "/login") { _ in
      .status(
        303,
        headers: ["Location": "/account", "Set-Cookie": "session=abc; Path=/; HttpOnly; Max-Age=3600; SameSite=Strict"])
    }
    shop.mock.route("/account") { request in
      request.headers[.cookie]?.contains("session=abc") == true ? .text("welcome") : .status(403)
    }
    shop.mock.route("/logout", answer: .status(204, headers: ["Set-Cookie": "session=; Path=/; Max-Age=0"]))
    return shop
  }

  @Test func `a session cookie lasts from a redirected login POST until the logout`() async throws {
    let shop = try shop()
    let login = try await URLTask(shop.url("login"), method: .post).on(shop.server).response()
    #expect(login.text == "welcome" && login.response.redirects.count == 1)
    #expect(try await URLTask(shop.url("account")).on(shop.server).response().text == "welcome")
    try await URLTask(shop.url("logout")).on(shop.server).run()
    let error = await #expect(throws: TaskError.self) { try await URLTask(shop.url("account")).on(shop.server).run() }
    #expect(error?.status == 403)
    #expect(shop.mock.requests.map { $0.headers[.cookie] } == [nil, "session=abc", "session=abc", "session=abc", nil])
  }

  @Test func `two jars that use the same file share their cookies`() async throws {
    try await withFolder { folder in
      let file = folder.appendingPathComponent("cookies.json")
      let first = try CookieJar(file: file)
      let shop = try shop(first)
      try await URLTask(shop.url("login"), method: .post).on(shop.server).run()
      try await first.synchronize()
      let jar = try CookieJar(file: file)
      let server = Server(Remote(shop.mock.url), environment: [:])
      await server.update { $0.cookiePolicy = .shared(jar) }
      #expect(try await URLTask(shop.url("account")).on(server).response().text == "welcome")
      try await URLTask(shop.url("logout")).on(server).run()
      try await jar.synchronize()
      try await first.synchronize()
      let error = await #expect(throws: TaskError.self) { try await URLTask(shop.url("account")).on(shop.server).run() }
      #expect(error?.status == 403, "signing out with one jar also signs out the other")
    }
  }

  @Test func `all ports of a host share cookies, but 127.0.0.1 and localhost do not`() async throws {
    let (shop, other) = (try shop(), try Shop())
    let moved = "http://localhost:\(other.mock.url.port ?? 0)/widgets/7"
    shop.mock.route("/moved", answer: .status(302, headers: ["Location": moved, "Set-Cookie": "a=1; Path=/"]))
    #expect(try await URLTask(shop.url("moved")).on(shop.server).response().status == .ok)
    #expect(other.mock.requests.map { $0.headers[.cookie] } == [nil])
    // RFC 6265bis §8.5: "Cookies do not provide isolation by port."
    #expect(try await URLTask(other.url("widgets/7")).on(shop.server).response().status == .ok)
    #expect(other.mock.requests.map { $0.headers[.cookie] } == [nil, "a=1"])
  }

  @Test func `ignores cookies in an informational response`() async throws {
    let shop = try shop()
    let early = "HTTP/1.1 103 Early Hints\r\nSet-Cookie: early=1\r\n\r\n"
    shop.mock.enqueue(.raw(Data((early + "HTTP/1.1 200 OK\r\nSet-Cookie: late=1\r\nContent-Length: 0\r\n\r\n").utf8)))
    try await URLTask(shop.url("early")).on(shop.server).run()
    #expect(shop.server.cookieJar?.cookies.map(\.name) == ["late"])
  }

  @Test func `64 concurrent responses store all their cookies`() async throws {
    let shop = try shop()
    shop.mock.route("/set/:n") { request in
      .status(200, headers: ["Set-Cookie": "c\(request.parameters["n"] ?? "")=1; Path=/"])
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<64 {
        group.addTask { try await URLTask(shop.url("set/\(number % 32)")).on(shop.server).run() }
      }
      try await group.waitForAll()
    }
    #expect(Set(shop.server.cookieJar?.cookies.map(\.name) ?? []) == Set((0..<32).map { "c\($0)" }))
    #expect(shop.isQuiet)
  }

  private struct Started: ServerGETTask {
    let cookies: Shared<[String?]>
    var path: String { "started" }
    func didStart(_ request: HTTPRequest) async { cookies.withLock { $0.append(request.headers[.cookie]) } }
  }

  @Test(arguments: [true, false]) func `didStart receives a request with the jar's cookies`(waits: Bool)
    async throws
  {
    let shop = try Shop { $0.waitsForConnectivity = waits }
    shop.mock.route("/started") { _ in .text("ok").header("Set-Cookie", "a=1") }
    let cookies = Shared<[String?]>([])
    for _ in 0..<2 { try await Started(cookies: cookies).on(shop.server).run() }
    #expect(cookies.withLock { $0 } == [nil, "a=1"])
  }
}
