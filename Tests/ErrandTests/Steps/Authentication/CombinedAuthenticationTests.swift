import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Requests with several credentials.
@Suite(.timeLimit(.minutes(1))) struct CombinedAuthenticationTests {
  private static let keyed = Authentication.apiKey("k", header: "X-API-Key")

  /// Returns the `Authorization` and `X-API-Key` fields of each request.
  private func credentials(_ stub: StubServer) -> [[String?]] {
    stub.requests.map { [$0.headers[.authorization], $0.headers["X-API-Key"]] }
  }

  @Test func `.all applies every element that matches the request`() async throws {
    let stub = StubServer(.status(.ok)) {
      $0.authentication = .all([.bearer("a").forPaths(below: "/v1"), Self.keyed, .bearer("b").forPaths(below: "/v2")])
    }
    for path in ["v1/x", "v2", "v3"] { try await PlainTask(path: path).on(stub.server).run() }
    #expect(credentials(stub) == [["Bearer a", "k"], ["Bearer b", "k"], [nil, "k"]])
    #expect(stub.requests[0].options.credentialHeaders == [.authorization, "X-API-Key"])
  }

  @Test func `.firstMatching applies only the first element that matches`() async throws {
    let stub = StubServer(.status(.ok)) {
      $0.authentication = .firstMatching([
        .all([.bearer("admin"), Self.keyed]).forPaths(below: "/admin"), .all([.none]), .bearer("rest"),
      ])
    }
    for path in ["admin", "x"] { try await PlainTask(path: path).on(stub.server).run() }
    #expect(credentials(stub) == [["Bearer admin", "k"], ["Bearer rest", nil]])
  }

  @Test func `the last element that sets a header wins, for servers and tasks`() async throws {
    let both = Authentication.all([.bearer("a"), .bearer("b")])
    let stub = StubServer(.status(.ok)) { $0.authentication = both }
    try await PlainTask().on(stub.server).run()
    try await PlainTask().authenticated(both).on(stub.server).run()
    #expect(credentials(stub) == [["Bearer b", nil], ["Bearer b", nil]])
  }

  @Test func `a header set by a task suppresses only the element that sets the same header`() async throws {
    let stub = StubServer(.status(.ok)) { $0.authentication = .all([.bearer("a"), Self.keyed]) }
    try await PlainTask().header(.authorization, "own").on(stub.server).run()
    #expect(credentials(stub) == [["own", "k"]])
  }

  @Test func `a task can add an API key to the server's credentials, which stay at the server's origin`() async throws {
    let stub = StubServer(.status(.ok)) { $0.authentication = .bearer("a") }
    let both = Authentication.all([.inherited, Self.keyed])
    try await PlainTask().authenticated(both).on(stub.server).run()
    try await URLTask(.known("https://other.test/")).authenticated(both).on(stub.server).run()
    try await PlainTask().header(.authorization, "own").authenticated(both).on(stub.server).run()
    #expect(credentials(stub) == [["Bearer a", "k"], [nil, "k"], ["own", "k"]])
  }

  @Test func `nested path and origin limits all apply`() async throws {
    let stub = StubServer(.status(.ok)) {
      $0.authentication = .all([.bearer("a").forPaths(below: "/a"), Self.keyed]).forPaths(below: "/a/b")
        .forOrigins("https://shop.test", "https://cdn.test").forOrigins("https://shop.test")
    }
    for path in ["a", "a/b", "b", "https://cdn.test/a/b"] { try await PlainTask(path: path).on(stub.server).run() }
    #expect(credentials(stub) == [[nil, nil], ["Bearer a", "k"], [nil, nil], [nil, nil]])
  }

  /// An authenticator whose numbered token has its own header field and failure status.
  private final class Numbered: Authenticator {
    let name: HTTPHeaderName
    let status: HTTPStatus
    private let count = Counter()

    init(_ name: HTTPHeaderName, _ status: HTTPStatus) { (self.name, self.status) = (name, status) }

    func apply(_ token: Int, to request: inout HTTPRequest) { request.headers[name] = "\(token)" }

    func refresh(_ token: Int?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> Int? {
      count.add()
      return count.count
    }

    func isAuthenticationFailure(_ response: HTTPResponse) -> Bool { response.status == status }
  }

  @Test func `each element refreshes its own token`() async throws {
    let stub = StubServer(.status(401), .status(409), .status(.ok)) {
      $0.authentication = .all([.custom(Numbered("X-Outer", 401)), .custom(Numbered("X-Inner", 409))])
    }
    try await PlainTask().on(stub.server).run()
    #expect(stub.requests.map { $0.headers["X-Outer"] } == ["1", "2", "2"])
    #expect(stub.requests.map { $0.headers["X-Inner"] } == ["1", "1", "2"])
  }

  @Test func `a redirect to a path with other credentials drops all credentials`() async throws {
    let stub = StubServer(.status(307, [.location: "/b"]), .status(307, [.location: "/a/2"]), .status(.ok)) {
      $0.authentication = .all([.bearer("a").forPaths(below: "/a"), Self.keyed])
    }
    try await PlainTask(path: "a/1").on(stub.server).run()
    #expect(credentials(stub) == [["Bearer a", "k"], [nil, nil], [nil, nil]])
  }

  @Test func `the account of combined credentials depends on each element's account`() async throws {
    func account(_ elements: Authentication...) -> String? {
      let request = HTTPRequest(.get, .known("https://shop.test"))
      return Authentication.all(elements).ofCall?.account(of: request) { _ in true }?.name
    }
    let (ann, bob) = (Authentication.bearer("x").forAccount("ann"), Authentication.bearer("y").forAccount("bob"))
    #expect(account(ann) == "account ann" && account() == nil)
    #expect(Set([account(ann), account(bob), account(ann, bob), account(bob, ann)]).count == 4)
    let forgetful = Authentication.custom(NumberedTokens())
    let before = account(ann, forgetful)
    try await forgetful.forget()
    #expect(account(ann, forgetful) != before)
  }

  // MARK: API keys and Digest

  @Test func `an API key is redacted and not sent to another origin`() async throws {
    let stub = StubServer(.status(307, [.location: "https://other.test/"]), .status(.ok)) {
      $0.authentication = .apiKey("k3y", header: "X-Plain")
    }
    try await PlainTask().on(stub.server).run()
    #expect(stub.requests.map { $0.headers["X-Plain"] } == ["k3y", nil])
    #expect(stub.requests[0].options.credentialHeaders.contains("X-Plain"))
  }

  private static let challenge: HTTPHeaders = [.wwwAuthenticate: #"Digest realm="r", nonce="n", qop="auth""#]

  private func isDigest(_ stub: StubServer) -> [Bool] {
    stub.requests.map { $0.headers[.authorization]?.hasPrefix("Digest ") == true }
  }

  @Test func `.digest answers a challenge and authenticates the next request preemptively`() async throws {
    let stub = StubServer(.status(401, Self.challenge), .status(.ok)) {
      $0.authentication = .all([.digest(user: "ann", password: "sesame"), Self.keyed])
    }
    for _ in 0..<2 { try await PlainTask().on(stub.server).run() }
    #expect(isDigest(stub) == [false, true, true] && stub.requests.map { $0.headers["X-API-Key"] } == ["k", "k", "k"])
  }

  @Test func `a server's .digest keeps a request's own credentials, but a task's .digest replaces them`() async throws {
    let digest = Authentication.digest(user: "ann", password: "sesame")
    let stub = StubServer(.status(401, Self.challenge)) { $0.authentication = digest }
    let task = PlainTask().header(.authorization, "own").accepting(.all)
    try await task.on(stub.server).run()
    #expect(credentials(stub).map(\.first) == ["own"])
    try await task.authenticated(digest).on(stub.server).run()
    #expect(stub.requests.count == 3 && isDigest(stub) == [false, false, true])
  }

  @Test func `a redirect to a path outside of forPaths drops the Digest credentials`() async throws {
    let stub = StubServer(.status(307, [.location: "/b"]), .status(401, Self.challenge)) {
      $0.authentication = .digest(user: "ann", password: "sesame").forPaths(below: "/a")
    }
    let error = await taskError { try await PlainTask(path: "a").on(stub.server).run() }
    #expect(error?.status == 401 && stub.requests.map { $0.options.digest == nil } == [false, true])
  }

  @Test func `caches a response to a Digest-authenticated request for the account`() async throws {
    let shop = CachedShop(configure: { $0.authentication = .digest(user: "ann", password: "sesame") }) {
      number, request in .text("\(number)", [.cacheControl: "private, max-age=60"], for: request)
    }
    #expect(try await shop.get() == ("1", "errand; fwd=uri-miss; stored"))
    #expect(try await shop.get().text == "1")
    let bob = shop.task().authenticated(.digest(user: "bob", password: "sesame"))
    #expect(try await shop.get(bob).text == "2")
  }

  private struct Swapped: PerAttemptStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      var request = request
      request.options.digest = Credential(user: "eve", password: "x")
      return try await next(request)
    }
  }

  @Test func `does not cache a response if a step sets the Digest credentials`() async throws {
    let shop = CachedShop(configure: {
      $0.authentication = .bearer("a")
      $0.perAttemptSteps = [Swapped()]
    }) { number, request in .text("\(number)", [.cacheControl: "private, max-age=60"], for: request) }
    for text in ["1", "2"] { #expect(try await shop.get().text == text) }
  }
}
