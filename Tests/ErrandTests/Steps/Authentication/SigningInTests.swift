import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// The credentials that a request sends, depending on its URL and the settings.
@Suite(.timeLimit(.minutes(1))) struct SigningInTests {
  private func authorization(_ stub: StubServer) -> [String?] { stub.requests.map { $0.headers[.authorization] } }

  @Test func `Basic encodes the user name and password in Base64 (RFC 7617 §2)`() async throws {
    let stub = StubServer(.status(.ok)) { $0.authentication = .basic(user: "Aladdin", password: "open sesame") }
    try await PlainTask().on(stub.server).run()
    try await PlainTask().authenticated(.basic(user: "test", password: "123£")).on(stub.server).run()
    #expect(authorization(stub) == ["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Basic dGVzdDoxMjPCow=="])
  }

  @Test func `a call's token overrides the task's, which overrides the server's`() async throws {
    struct Signed: ServerGETTask { let authentication = Authentication.bearer("task") }
    let stub = StubServer(.status(.ok)) { $0.authentication = .bearer("server") }
    try await PlainTask().on(stub.server).run()
    try await Signed().on(stub.server).run()
    try await Signed().authenticated(.bearer("call")).on(stub.server).run()
    try await Signed().authenticated(.none).on(stub.server).run()
    try await Signed().authenticated(.inherited).on(stub.server).run()
    #expect(authorization(stub) == ["Bearer server", "Bearer task", "Bearer call", nil, "Bearer server"])
  }

  @Test(arguments: ["", "a b", "a\r\nX: y", "tö"]) func `rejects a token that is invalid in a header`(token: String)
    async throws
  {
    let stub = StubServer(.status(.ok)) { $0.authentication = .bearer(token) }
    let error = try #require(await taskError { try await PlainTask().on(stub.server).run() })
    #expect(error.code == .badRequest && stub.requests.isEmpty)
    #expect(token.isEmpty || !"\(error)".contains(token))
  }

  @Test(arguments: [("a:b", "c"), ("a\n", "b"), ("a", "b\u{7F}")])
  func `rejects a user name or password that Basic can't encode`(user: String, password: String) async throws {
    let stub = StubServer(.status(.ok)) { $0.authentication = .basic(user: user, password: password) }
    #expect(await taskError { try await PlainTask().on(stub.server).run() }?.code == .badRequest)
    #expect(stub.requests.isEmpty)
  }

  @Test(arguments: [
    ("https://shop.test/x", true), ("HTTPS://SHOP.test:443/y", true), ("https://cdn.test/x", true),
    ("https://other.test/x", false), ("https://shop.test:444/x", false), ("https://shop.test@evil.test/", false),
  ])
  func `sends a server's token only to its own origin and trusted origins`(address: String, isSigned: Bool) async throws
  {
    let stub = StubServer(.status(.ok)) {
      $0.authentication = .bearer("a")
      $0.trustedOrigins = ["https://cdn.test"]
    }
    try await URLTask(.known(address)).on(stub.server).run()
    #expect(authorization(stub) == [isSigned ? "Bearer a" : nil])
  }

  @Test func `sends a task's token to any origin`() async throws {
    let stub = StubServer(.status(.ok))
    try await URLTask(.known("https://other.test/x")).authenticated(.bearer("a")).on(stub.server).run()
    #expect(authorization(stub) == ["Bearer a"])
  }

  @Test func `uses the first authentication that matches the origin and path`() async throws {
    let stub = StubServer(.status(.ok)) {
      $0.authentication = .firstMatching([
        .bearer("cdn").forOrigins("https://cdn.test", "no origin"), .bearer("admin").forPaths(below: "/admin"),
        .basic(user: "u", password: "p").forPaths { $0.hasSuffix(".pdf") }, .bearer("rest"),
      ])
    }
    let paths = ["admin", "admin/x?a=b", "administration", "a.pdf", "plain", "https://cdn.test/admin", "public?/admin"]
    for path in paths { try await PlainTask(path: path).on(stub.server).run() }
    let basic = "Basic dTpw"
    #expect(
      authorization(stub) == [
        "Bearer admin", "Bearer admin", "Bearer rest", basic, "Bearer rest", "Bearer cdn", "Bearer rest",
      ])
  }

  @Test func `sends a token limited by forOrigins only to those origins`() async throws {
    let stub = StubServer(.status(.ok)) { $0.authentication = .bearer("a").forOrigins("https://other.test") }
    try await PlainTask().on(stub.server).run()
    try await URLTask(.known("https://other.test/x")).on(stub.server).run()
    #expect(authorization(stub) == [nil, "Bearer a"])
  }

  @Test func `a server's token keeps an existing Authorization header, but a call's token replaces it`() async throws {
    let stub = StubServer(.status(.ok)) {
      $0.authentication = .bearer("server")
      $0.preflight = { task, request in
        if task is GetWidget { request.headers[.authorization] = "hook" }
      }
    }
    try await PlainTask().header(.authorization, "own").on(stub.server).run()
    try await GetWidget().on(stub.server).run()
    try await PlainTask().header(.authorization, "own").authenticated(.bearer("call")).on(stub.server).run()
    #expect(authorization(stub) == ["own", "hook", "Bearer call"])
    #expect(stub.requests.map { $0.headers.values(for: .authorization).count } == [1, 1, 1])
  }

  @Test func `does not authenticate a request that a step sends to another origin`() async throws {
    struct Elsewhere: PerAttemptStep {
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        request.url = .known("https://evil.test/x")
        return try await next(request)
      }
    }
    let stub = StubServer(.status(.ok)) {
      $0.authentication = .bearer("a")
      $0.perAttemptSteps = [Elsewhere()]
    }
    try await PlainTask().on(stub.server).run()
    #expect(stub.urls == ["https://evil.test/x"] && authorization(stub) == [nil])
  }

  @Test func `lists the credential headers in the request's options`() async throws {
    let stub = StubServer(.status(.ok)) { $0.authentication = .custom(NumberedTokens()) }
    try await PlainTask().on(stub.server).run()
    let request = try #require(stub.requests.first)
    #expect(request.headers["X-Numbered"] == "1" && request.options.credentialHeaders == ["X-Numbered"])
  }

  @Test func `returns the 401 if the token can't be refreshed`() async throws {
    let body = StubLog.Answer.data(Data("no".utf8), .plainText)
    for authentication in [Authentication.bearer("a"), .basic(user: "u", password: "p")] {
      let stub = StubServer(.status(401), body) { $0.authentication = authentication }
      let error = await taskError { try await PlainTask().on(stub.server).run() }
      #expect(error?.status == 401 && stub.requests.count == 1)
    }
  }

  @Test func `calls the token closure once, and again after a 401`() async throws {
    let asked = Counter()
    let stub = StubServer(.status(.ok), .status(401), .status(.ok)) {
      $0.authentication = .bearer {
        asked.add()
        return "t\(asked.count)"
      }
    }
    try await PlainTask().on(stub.server).run()
    try await PlainTask().on(stub.server).run()
    try await PlainTask().on(stub.server).run()
    #expect(authorization(stub) == ["Bearer t1", "Bearer t1", "Bearer t2", "Bearer t2"] && asked.count == 2)
  }

  @Test func `does not resend a request after a 401 with insufficient_scope`() async throws {
    let challenge: HTTPHeaders = [.wwwAuthenticate: #"Bearer realm="x", error="insufficient_scope""#]
    let stub = StubServer(.status(401, challenge)) { $0.authentication = .bearer { "a" } }
    #expect(await taskError { try await PlainTask().on(stub.server).run() }?.headers.challenges.first?.realm == "x")
    #expect(stub.requests.count == 1)
  }

  @Test func `credentials with equal secrets or equal names have the same account`() {
    func account(_ authentication: Authentication) -> String? {
      let request = HTTPRequest(.get, .known("https://shop.test"))
      return authentication.ofCall?.account(of: request) { _ in true }?.name
    }
    #expect(account(.bearer("a")) == account(.bearer("a")) && account(.bearer("a")) != account(.bearer("b")))
    #expect(account(.basic(user: "a", password: "b")) == account(.basic(user: "a", password: "b")))
    #expect(account(.basic(user: "a", password: "b")) != account(.basic(user: "a", password: "c")))
    #expect(account(.custom(NumberedTokens())) != account(.custom(NumberedTokens())))
    #expect(account(.bearer("a").forAccount("ann")) == account(.custom(NumberedTokens()).forAccount("ann")))
    #expect(account(.digest(user: "a", password: "b")) == account(.digest(user: "a", password: "b")))
    #expect(account(.digest(user: "a", password: "b")) != account(.basic(user: "a", password: "b")))
    #expect(account(.apiKey("a", header: "X-Key")) == account(.apiKey("a", header: "x-key")))
    #expect(account(.apiKey("a", header: "X-Key")) != account(.apiKey("a", header: "X-Other")))
    #expect(account(.none) == nil)
  }

  @Test func `per-call steps receive the account before the request is authenticated`() async throws {
    struct Seeing: PerCallStep {
      let seen = Shared<[String?]>([])
      func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        seen.withLock { $0.append(request.options.account) }
        return try await next(request)
      }
    }
    let step = Seeing()
    let stub = StubServer(.status(.ok)) {
      $0.authentication = .bearer("a").forAccount("ann")
      $0.perCallSteps = [step]
    }
    try await PlainTask().on(stub.server).run()
    try await PlainTask().authenticated(.none).on(stub.server).run()
    #expect(step.seen.withLock { $0 } == ["account ann", nil])
  }
}
