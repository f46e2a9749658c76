import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct TrustedOriginsTests {
  private func shop(
    remote: Remote = "https://shop.test/v1", _ configure: (inout ServerConfiguration) -> Void = { _ in }
  )
    -> StubServer
  {
    StubServer(.status(.ok), remote: remote) {
      $0.standardHeaders = [.accept: "a", .acceptLanguage: "de", .authorization: "s3cret", "X-Key": "s3cret"]
      $0.computedHeaders = { _ in ["X-Session": "s3cret", .acceptLanguage: "en"] }
      configure(&$0)
    }
  }

  @Test(arguments: [
    "https://other.test/x", "https://shop.test:444/v1/x", "https://api.shop.test/v1/x",
    "https://shop.test.evil.test/v1/x",
    "https://shop.test@evil.test/v1/x", "http://localhost/v1/x",
  ])
  func `sends the server's headers only to the server's own origin`(address: String) async throws {
    let stub = shop()
    try await URLTask(.known(address)).on(stub.server).run()
    try await PlainTask(path: address).on(stub.server).run()
    for request in stub.requests {
      #expect(request.headers.map(\.name.rawName).sorted() == ["Accept", "Accept-Language", "User-Agent"])
      #expect(request.headers[.acceptLanguage] == "en", "computed headers override standard headers")
    }
    #expect(stub.requests.count == 2)
  }

  @Test(arguments: ["https://shop.test/x", "HTTPS://SHOP.test:443/v1/x", "https://user@shop.test/v2"])
  func `sends all headers to any path on the same origin`(address: String) async throws {
    let stub = shop()
    try await URLTask(.known(address)).on(stub.server).run()
    let headers = try #require(stub.requests.first).headers
    #expect(headers[.authorization] == "s3cret" && headers["X-Session"] == "s3cret" && headers["X-Key"] == "s3cret")
  }

  @Test func `sends the task's own headers to any origin`() async throws {
    let stub = shop()
    let url = URL.known("https://other.test/x")
    try await URLTask(url, headers: [.authorization: "own"]).header("X-Own", "1").on(stub.server).run()
    let headers = try #require(stub.requests.first).headers
    #expect(headers.values(for: .authorization) == ["own"] && headers["X-Own"] == "1" && headers["X-Key"] == nil)
  }

  /// Follows the `Location` header itself.
  private struct Following: PerAttemptStep {
    let address: String

    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      _ = try await next(request)
      var request = request
      request.url = .known(address)
      request.headers["X-Step"] = "1"
      return try await next(request)
    }
  }

  @Test func `removes the server's headers if a step or preflight changes the origin`() async throws {
    let away = "https://other.test/x"
    let follow = shop { $0.perAttemptSteps = [Following(address: away)] }
    let rewrite = shop {
      $0.preflight = { _, request in
        request.url = .known(away)
        request.headers["X-Step"] = "1"
      }
    }
    for stub in [follow, rewrite] {
      try await PlainTask().on(stub.server).header("X-Own", "1").run()
      let headers = try #require(stub.requests.last).headers
      #expect(
        headers.map(\.name.rawName).sorted() == ["Accept", "Accept-Language", "User-Agent", "X-Own", "X-Step"])
    }
    #expect(follow.requests.first?.headers["X-Key"] == "s3cret")
  }

  @Test(arguments: ["https://shop.test/elsewhere", "https://cdn.test/x"])
  func `keeps the server's headers if a step redirects to the same or a trusted origin`(address: String) async throws {
    let stub = shop {
      $0.perAttemptSteps = [Following(address: address)]
      $0.trustedOrigins = ["https://cdn.test"]
    }
    try await PlainTask().on(stub.server).run()
    #expect(stub.requests.map { $0.headers["X-Key"] } == ["s3cret", "s3cret"])
  }

  @Test func `sends the server's headers to another origin only if that origin is trusted`() async throws {
    let stub = shop { $0.trustedOrigins = ["https://cdn.test", "HTTPS://Files.test:8443/", "no origin"] }
    let addresses = [
      "https://cdn.test/x", "https://cdn.test:443/y", "https://files.test:8443/x", "https://files.test/x",
      "http://localhost/x",
    ]
    for address in addresses { try await URLTask(.known(address)).on(stub.server).run() }
    #expect(stub.requests.map { $0.headers["X-Key"] } == ["s3cret", "s3cret", "s3cret", nil, nil])
    #expect(stub.requests.map { $0.headers["X-Session"] } == ["s3cret", "s3cret", "s3cret", nil, nil])
  }

  @Test func `sends no server headers without a remote`() async throws {
    let stub = shop(remote: .none)
    try await URLTask(.known("https://other.test/x")).on(stub.server).run()
    #expect(try #require(stub.requests.first).headers[.authorization] == nil)
  }

  @Test func `a retry does not send the server's headers to another origin`() async throws {
    let stub = StubServer(.status(503), .status(.ok)) { $0.standardHeaders = [.authorization: "s3cret"] }
    try await URLTask(.known("https://other.test/x")).on(stub.server).run()
    #expect(stub.requests.map { $0.headers[.authorization] } == [nil, nil])
  }

  /// Sends the request to another origin, as an app's own redirect code might.
  private struct Elsewhere: PerCallStep {
    func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
      _ = try await next(request)
      var request = request
      request.url = .known("https://other.test/x")
      return try await next(request)
    }
  }

  @Test func `a step's request to another origin has no server headers in any attempt`() async throws {
    let token = Shared(0)
    let stub = StubServer(.status(.serviceUnavailable), .status(.ok), .status(.ok)) {
      $0.perCallSteps = [Elsewhere()]
      $0.computedHeaders = { _ in
        token.withLock { $0 += 1 }
        return [.authorization: "s3cret\(token.withLock { $0 })"]
      }
    }
    try await PlainTask().on(stub.server).run()
    #expect(stub.requests.count == 3)
    #expect(stub.requests.map { $0.headers[.authorization] } == ["s3cret1", "s3cret2", nil])
  }
}
