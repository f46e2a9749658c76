import Errand
import ErrandTesting
import Foundation
import Testing

/// Cookies of redirected calls.
@Suite(.timeLimit(.minutes(1))) struct CookieRedirectTests {
  private static func to(_ location: String, _ status: HTTPStatus = 302, sets lines: String...) -> StubLog.Answer {
    var headers: HTTPHeaders = [.location: location]
    for line in lines { headers.add(line, for: .setCookie) }
    return .status(status, headers)
  }

  private func sent(_ stub: StubServer) -> [String?] { stub.requests.map { $0.headers[.cookie] } }

  private struct Passing: PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse { try await next(request) }
  }

  /// Returns one step if `has` is true. Cookies are then added before the step runs.
  private static func steps(_ has: Bool) -> [any PerAttemptStep] { has ? [Passing()] : [] }

  @Test(arguments: [false, true]) func `sends a redirect's cookies with the next request`(hasSteps: Bool) async throws {
    let stub = StubServer(
      Self.to("/home", 303, sets: "session=1; Path=/"), Self.to("/end", sets: "session=2; Path=/", "b=3"), .status(.ok)
    ) { $0.perAttemptSteps = Self.steps(hasSteps) }
    try await URLTask(.known("https://shop.test/login"), method: .post).on(stub.server).run()
    #expect(sent(stub) == [nil, "session=1", "session=2; b=3"])
    try await URLTask(.known("https://shop.test/")).on(stub.server).run()
    #expect(sent(stub).last == "session=2; b=3")
  }

  @Test(arguments: [false, true])
  func `sends another origin its own cookies and cookies shared within its domain`(hasSteps: Bool) async throws {
    let stub = StubServer(
      .status(.ok, [.setCookie: "host=1; Path=/", "Set-Cookie": "all=2; Path=/; Domain=shop.test"]),
      Self.to("https://cdn.shop.test/x"), Self.to("https://idp.test/y", sets: "cdn=3; Path=/"),
      Self.to("https://shop.test/z", sets: "idp=4; Path=/"), .status(.ok)
    ) { $0.perAttemptSteps = Self.steps(hasSteps) }
    try await PlainTask().on(stub.server).run()
    try await PlainTask().on(stub.server).run()
    #expect(sent(stub) == [nil, "host=1; all=2", "all=2", nil, "host=1; all=2"])
    #expect(stub.server.cookieJar?.cookies.map(\.domain) == ["shop.test", "shop.test", "cdn.shop.test", "idp.test"])
  }

  @Test(arguments: [false, true])
  func `omits SameSite=Strict cookies if the call started at another site`(hasSteps: Bool) async throws {
    let stub = StubServer(
      .status(.ok, [.setCookie: "strict=1; SameSite=Strict", "Set-Cookie": "lax=2; SameSite=Lax"]),
      Self.to("https://shop.test/"), .status(.ok), Self.to("https://shop.test/", 307), .status(.ok),
      Self.to("https://other.test/"), Self.to("https://shop.test/"), .status(.ok)
    ) { $0.perAttemptSteps = Self.steps(hasSteps) }
    let (shop, other) = (URL.known("https://shop.test/"), URL.known("https://other.test/"))
    try await URLTask(shop).on(stub.server).run()
    try await URLTask(other).on(stub.server).run()
    #expect(sent(stub).suffix(1) == ["lax=2"], "the call started at another site")
    try await URLTask(other, method: .post).on(stub.server).run()
    #expect(sent(stub).suffix(1) == [nil], "a POST from another site sends no Lax cookie")
    try await URLTask(shop).on(stub.server).run()
    #expect(sent(stub).suffix(3) == ["strict=1; lax=2", nil, "strict=1; lax=2"], "the call started at the same site")
  }

  @Test func `a task's own Cookie header is not sent to another origin`() async throws {
    let stub = StubServer(
      Self.to("/b", sets: "jar=1; Path=/"), Self.to("https://other.test/"), Self.to("https://shop.test/c"), .status(.ok)
    )
    try await PlainTask().header(.cookie, "mine=1").on(stub.server).run()
    #expect(sent(stub) == ["mine=1", "mine=1", nil, "jar=1"], "the jar's cookies are sent once the header is removed")
    let other = StubServer(
      Self.to("https://other.test/", sets: "jar=1; Path=/"), Self.to("https://shop.test/c"), .status(.ok))
    try await PlainTask().cookies(.sending(["k": "v"])).on(other.server).run()
    #expect(sent(other) == ["k=v", nil, nil] && other.server.cookieJar?.cookies.isEmpty == true)
  }

  @Test func `a redirect to the same URL is not a loop if it sets a cookie`() async throws {
    let stub = StubServer(Self.to("/plain", sets: "seen=1; Path=/"), .status(.ok))
    let response = try await PlainTask().on(stub.server).run()
    #expect(response.redirects.count == 1 && sent(stub) == [nil, "seen=1"])
  }
}
