import ErrandTesting
import Foundation
import Testing

@testable import Errand

/// Checks every URL supplied by a server. An https URL must never lead to http, even if plain http to the host is
/// allowed. The guide "Controlling redirects and connections" lists these URLs.
@Suite(.timeLimit(.minutes(1))) struct SuppliedURLTests {
  /// Servers and the http URLs that they supply. Plain http to their hosts is allowed.
  private static let remotes = [
    ("https://shop.test", "http://shop.test/x"), ("https://127.0.0.1:8443", "http://127.0.0.1:8080/x"),
    ("https://localhost", "http://localhost/x"),
  ]

  private func stub(_ remote: String, _ answers: StubLog.Answer...) -> StubServer {
    let server = StubServer(remote: Remote(remote)) {
      $0.insecureHosts = ["shop.test", "auth.test"]
      $0.cache = MemoryCache()
    }
    server.log.enqueue(answers)
    return server
  }

  private func isSafe(_ stub: StubServer, count: Int) -> Bool {
    stub.requests.count == count && stub.requests.allSatisfy { $0.url.scheme == "https" }
  }

  // MARK: Redirects

  @Test(arguments: [301, 302, 303, 307, 308], [HTTPMethod.get, .post])
  func `does not follow a redirect to http`(code: Int, method: HTTPMethod) async throws {
    for (remote, target) in Self.remotes {
      let stub = stub(remote, .status(HTTPStatus(code), [.location: target, .cacheControl: "max-age=60"]))
      let task = ShopTask(path: "a", httpMethod: method).on(stub.server)
      for _ in 1...2 {  // the second run must not use a cached redirect
        let error = await taskError { try await task.run() }
        #expect(error?.code == .badRedirect && error?.reason.contains("from https to http") == true)
      }
      #expect(isSafe(stub, count: 2))
    }
  }

  @Test func `does not follow a second redirect to http`() async {
    let (hop, target) = ("https://other.test/b", "http://shop.test/c")
    let stub = stub("https://shop.test", .status(302, [.location: hop]), .status(302, [.location: target]))
    #expect(await taskError { try await PlainTask().on(stub.server).run() }?.code == .badRedirect)
    #expect(isSafe(stub, count: 2))
  }

  @Test func `does not request the Location of a 201 or a Content-Location`() async throws {
    let target = "http://shop.test/1"
    let stub = stub("https://shop.test", .status(201, [.location: target, .contentLocation: target]))
    let response = try await ShopTask(path: "a", httpMethod: .post).on(stub.server).run()
    #expect(response.status == .created && isSafe(stub, count: 1))
    let put = HTTPRequest(.put, .known("https://shop.test/a"))
    let moved = HTTPResponse(url: put.url, headers: [.location: target, .contentLocation: target])
    #expect(Invalidation.urls(put, moved) == ["https://shop.test/a"], "responses at another origin are not removed")
  }

  @Test func `ignores an http origin in the domain of a Digest challenge`() throws {
    let field = #"Digest realm="r", nonce="n", qop="auth", domain="http://shop.test/ https://shop.test/b""#
    let origin = try #require(Origin(.known("https://shop.test/")))
    let best = DigestChallenge.best(in: [.wwwAuthenticate: field], of: origin, hasBodyInMemory: true)
    #expect(try #require(best).get().domain == ["/b"])
  }

  // MARK: Pages

  private struct Listing: ServerGETTask, PayloadDownloadingTask {
    typealias DownloadPayload = [Int]
    let path = "list"
  }

  @Test(arguments: [true, false]) func `does not request the next page over http`(hasLink: Bool) async throws {
    for (remote, target) in Self.remotes {
      let link: HTTPHeaders = hasLink ? [.link: "<\(target)>; rel=next"] : [:]
      let log = Shared<[URL]>([])
      var configuration = ServerConfiguration()
      configuration.insecureHosts = ["shop.test"]
      let server = Server(
        Remote(remote), configuration: configuration,
        transport: StubTransport { request in
          log.withLock { $0.append(request.url) }
          return .json("[1]", headers: link, for: request)
        })
      let task = Listing().on(server)
      let pages = hasLink ? task.pages() : task.pages { _ in URL(string: target) }
      let error = await taskError { for try await _ in pages {} }
      #expect(error?.code == .badResponse && error?.reason.contains("from https to http") == true)
      #expect(log.withLock { $0.map(\.scheme) } == ["https"])
    }
  }

  // MARK: Streams

  @Test func `an event stream does not reconnect to http`() async throws {
    for (remote, target) in Self.remotes {
      let events = StubLog.Answer.data(Data("id: 1\ndata: a\n\n".utf8), "text/event-stream")
      let stub = stub(remote, events, .status(307, [.location: target]))
      var seen: [String] = []
      let error = await taskError {
        for try await event in PlainTask().on(stub.server).events() { seen.append(event.data) }
      }
      #expect(seen == ["a"] && error?.code == .badRedirect && isSafe(stub, count: 2))
    }
  }

  // MARK: Tokens

  private struct OwnTokens: Authenticator {
    let isAnswered = Shared<[HTTPStatus]>([])
    func storedToken() async throws -> String? { nil }
    func apply(_ token: String, to request: inout HTTPRequest) throws { request.headers["X-Session"] = token }
    func refresh(_ token: String?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> String? {
      let response = try await context.send(HTTPRequest(.post, TokenService.url, body: .text("s3cret")))
      isAnswered.withLock { $0.append(response.status) }
      return nil
    }
  }

  @Test(arguments: [301, 302, 303, 307, 308]) func `a token request does not follow redirects`(code: Int) async throws {
    let own = OwnTokens()
    let settings = OAuth2(
      tokenURL: TokenService.url, client: .init(id: "app", secret: "s3cret"), grant: .refreshToken("r"))
    for authentication in [Authentication.oauth2(settings), .custom(own)] {
      let urls = Shared<[URL]>([])
      let shop = VirtualShop(
        .autoAdvancing,
        configure: {
          $0.authentication = authentication
          $0.insecureHosts = ["auth.test"]
        }
      ) { _, request, _ in
        urls.withLock { $0.append(request.url) }
        guard request.url.host() == "auth.test" else { return .ok(request) }
        return .status(HTTPStatus(code), headers: [.location: "http://auth.test/token"], for: request)
      }
      _ = await taskError { try await shop.task().run() }
      #expect(urls.withLock { $0.allSatisfy { $0.scheme == "https" } && $0.first == TokenService.url })
    }
    #expect(own.isAnswered.withLock { $0 } == [HTTPStatus(code)])
  }

  @Test(arguments: [
    #""verification_uri":"http://auth.test/go""#,
    #""verification_uri":"https://auth.test/go","verification_uri_complete":"http://auth.test/go?c=1""#,
    #""verification_uri":"https://auth.test@evil.test/go""#, #""verification_uri":"javascript:alert(1)""#,
  ]) func `does not show a verification URL that uses http or is invalid`(page: String) async throws {
    let shown = Shared(0)
    let grant = OAuth2.Grant.deviceCode(at: .known("https://auth.test/device")) { _ in shown.withLock { $0 += 1 } }
    let settings = OAuth2(tokenURL: TokenService.url, client: .init(id: "app"), grant: grant)
    let shop = VirtualShop(.autoAdvancing, configure: { $0.authentication = .oauth2(settings) }) { _, request, _ in
      .json(#"{"device_code":"d","user_code":"W","expires_in":60,\#(page)}"#, for: request)
    }
    let error = await taskError { try await shop.task().run() }
    #expect(error?.code == .authenticationFailed && shown.withLock { $0 } == 0)
    #expect(error?.reason.contains("is not shown") == true && shop.sentCount == 1)
  }
}
