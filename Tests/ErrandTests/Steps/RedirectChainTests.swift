import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct RedirectChainTests {
  /// Returns the request that follows a redirect of `request`, or `nil`.
  private func next(
    _ status: HTTPStatus, _ location: String, _ request: HTTPRequest, _ policy: RedirectPolicy = .follow,
    redaction: Redaction = .standard
  ) throws -> HTTPRequest? {
    var chain = RedirectChain(request, policy, redaction)
    let response = HTTPResponse(status, url: request.url, headers: [.location: location])
    guard let next = try chain.proposal(response, mayKeep: { _, _ in false }) else { return nil }
    try chain.follow(response, with: next)
    return chain.request
  }

  private func request(
    _ method: HTTPMethod = .get, _ url: String = "https://shop.test/a", headers: HTTPHeaders = [:],
    body: HTTPBody = .empty
  ) -> HTTPRequest {
    HTTPRequest(method, .known(url), headers: headers, body: body)
  }

  // RFC 9110 §15.4.2 and §15.4.3: "For historical reasons, a user agent MAY change the request method from POST to
  // GET". §15.4.4: 303 "is intended to provide an indirect response to the original request", with "a GET or HEAD
  // request". §15.4.8: "the user agent MUST NOT change the request method" (307). §15.4.9: the same applies to 308.
  @Test(arguments: [
    (301, "GET", "GET"), (301, "HEAD", "HEAD"), (301, "POST", "GET"), (301, "PUT", "PUT"), (301, "DELETE", "DELETE"),
    (302, "GET", "GET"), (302, "HEAD", "HEAD"), (302, "POST", "GET"), (302, "PATCH", "PATCH"), (302, "QUERY", "QUERY"),
    (303, "GET", "GET"), (303, "HEAD", "HEAD"), (303, "POST", "GET"), (303, "PUT", "GET"), (303, "DELETE", "GET"),
    (303, "QUERY", "GET"), (307, "POST", "POST"), (307, "PUT", "PUT"), (307, "GET", "GET"), (308, "POST", "POST"),
    (308, "HEAD", "HEAD"), (308, "DELETE", "DELETE"),
  ])
  func `chooses the next method and body by status (RFC 9110 §15.4)`(
    code: Int, method: String, expected: String
  )
    throws
  {
    let hasBody = !["GET", "HEAD"].contains(method)
    let headers: HTTPHeaders = [
      "Content-Type": "text/plain", "Content-Language": "en", "Expect": "100-continue", "X-A": "1",
    ]
    let sent = request(
      HTTPMethod(method), headers: hasBody ? headers : ["X-A": "1"], body: hasBody ? .text("x") : .empty)
    let next = try #require(try next(HTTPStatus(code), "/b", sent))
    #expect(next.method.rawValue == expected && next.url.absoluteString == "https://shop.test/b")
    if method == expected {
      #expect(next.body.isSame(as: sent.body) && next.headers == sent.headers)
    } else {
      // §15.4, item 5: "If the request method has been changed to GET or HEAD, remove content-specific header fields".
      #expect(next.body.isEmpty && next.headers == ["X-A": "1"])
    }
  }

  // RFC 9110 §15.4: "the user agent MAY automatically redirect". The user chooses from a 300 (§15.4.1), a 304 has no
  // target (§15.4.5), 305 is deprecated (§15.4.6), and 306 "is no longer used" (§15.4.7).
  @Test(arguments: [200, 201, 300, 304, 305, 306, 309, 399, 404])
  func `does not redirect on other statuses, even with a Location (RFC 9110 §15.4)`(code: Int) throws {
    #expect(try next(HTTPStatus(code), "/b", request()) == nil)
  }

  private static let secrets: HTTPHeaders = [
    "Authorization": "a", "Cookie": "b", "Proxy-Authorization": "c", "X-Api-Key": "d", "X-Session-Id": "e",
    "X-Declared": "f", "Host": "shop.test", "Origin": "https://shop.test", "Referer": "https://shop.test/secret",
  ]

  // RFC 9110 §15.4: "Remove header fields that were automatically generated …: Authorization, and Cookie"; "Consider
  // removing header fields that were not automatically generated … where there are security implications". Another
  // scheme, host or port is another origin (RFC 6454 §4).
  @Test(arguments: [
    "https://other.test/", "https://shop.test:444/", "https://api.shop.test/", "//evil.test/shop.test/",
  ])
  func `removes credentials, secrets and origin fields on a redirect to another origin (RFC 9110 §15.4)`(
    location: String
  ) throws {
    var redaction = Redaction.standard
    redaction.headers.insert("X-Declared")
    var sent = request(headers: HTTPHeaders(Self.secrets.fields + [.init("X-Plain", "1"), .init("Accept", "*/*")]))
    sent.options.digest = Credential(user: "u", password: "p")
    let next = try #require(try next(307, location, sent, redaction: redaction))
    #expect(next.headers == ["X-Plain": "1", "Accept": "*/*"] && next.options.digest == nil)
  }

  @Test func `removes secret headers even if redaction is off`() throws {
    let next = try #require(try next(302, "https://other.test/", request(headers: Self.secrets), redaction: .none))
    #expect(next.headers == ["X-Declared": "f"])
  }

  // RFC 9110 §4.3.1: "The "origin" for a given URI is the triple of scheme, host, and port after normalizing the scheme
  // and host to lowercase and normalizing the port".
  @Test(arguments: ["/b", "https://shop.test:443/b", "HTTPS://SHOP.test/b", "//shop.test./b"])
  func `keeps all headers on the same origin, however it is spelled (RFC 9110 §4.3.1)`(location: String) throws {
    var sent = request(headers: Self.secrets)
    sent.options.digest = Credential(user: "u", password: "p")
    let next = try #require(try next(302, location, sent))
    #expect(next.headers == Self.secrets && next.options.digest == sent.options.digest)
  }

  // RFC 9110 §4.2.2: "a client MUST ensure that its HTTP requests for an "https" resource are secured".
  @Test(arguments: ["http://shop.test/", "http://127.0.0.1/", "HTTP://shop.test/"])
  func `does not follow a redirect from https to http (RFC 9110 §4.2.2)`(location: String) {
    let error = #expect(throws: TaskError.self) { try next(302, location, request()) }
    #expect(error?.code == .badRedirect && error?.status == 302 && error?.reason.contains("from https to http") == true)
  }

  // RFC 9110 §4.2.2: "no shared identity with the "http" scheme. They are distinct origins with separate namespaces."
  @Test func `treats a redirect from http to https as cross-origin (RFC 9110 §4.2.2)`() throws {
    let sent = request(.get, "http://127.0.0.1/a", headers: ["Authorization": "a"])
    let next = try #require(try next(301, "https://127.0.0.1/a", sent))
    #expect(next.url.scheme == "https" && next.headers.isEmpty)
  }

  @Test(arguments: [
    "ftp://shop.test/", "file:///etc/passwd", "myapp://callback?code=1", "http:g", "https:///x", "https://a b/",
  ])
  func `rejects a Location that is not a valid http or https URL (RFC 9110 §4.2)`(location: String) {
    let error = #expect(throws: TaskError.self) { try next(302, location, request()) }
    #expect(error?.code == .badRedirect && error?.isRetryable == false)
  }

  private static func once() -> HTTPBody { .once(AsyncStream<Data> { $0.finish() }) }

  // RFC 9110 §15.4.8: "the user agent MUST NOT change the request method if it performs an automatic redirection to
  // that URI", so the content must not change either.
  @Test func `does not resend a one-shot body, but follows a redirect that drops it (RFC 9110 §15.4.8)`() throws {
    let sent = request(.post, body: Self.once())
    let error = #expect(throws: TaskError.self) { try next(307, "/b", sent) }
    #expect(error?.code == .bodyNotReplayable && error?.status == 307)
    #expect(try next(303, "/b", sent)?.body.isEmpty == true)
    #expect(try next(302, "/b", sent)?.method == .get)
  }

  // RFC 9110 §15.4: "A client SHOULD detect and intervene in cyclical redirections".
  @Test func `detects a loop unless a redirect sets a cookie or changes the method (RFC 9110 §15.4)`() throws {
    func follow(_ hops: [(status: HTTPStatus, headers: HTTPHeaders)], _ first: HTTPRequest) throws -> [Redirect] {
      var chain = RedirectChain(first, .follow, .standard)
      for hop in hops {
        let response = HTTPResponse(hop.status, url: chain.request.url, headers: hop.headers)
        let next = try #require(try chain.proposal(response, mayKeep: { _, _ in false }))
        try chain.follow(response, with: next)
      }
      return chain.redirects
    }
    let back: [(HTTPStatus, HTTPHeaders)] = [(302, ["Location": "/b"]), (302, ["Location": "/a"])]
    let error = #expect(throws: TaskError.self) { try follow(back, request()) }
    #expect(error?.code == .tooManyRedirects && error?.reason.contains("https://shop.test/a") == true)
    #expect(throws: TaskError.self) { try follow([(302, ["Location": "#x"])], request()) }
    #expect(throws: TaskError.self) { try follow([(302, ["Location": ""])], request()) }
    #expect(try follow([(303, ["Location": "/a"])], request(.post, body: .text("x"))).count == 1)
    let cookie: HTTPHeaders = ["Location": "/a", "Set-Cookie": "seen=1"]
    #expect(try follow([(302, cookie)], request()).count == 1)
    #expect(throws: TaskError.self) { try follow([(302, cookie), (302, ["Location": "/a"])], request()) }
  }

  @Test func `follows redirects up to the policy's maximum`() throws {
    var chain = RedirectChain(request(.get, "https://shop.test/0"), .follow, .standard)
    func hop(_ number: Int) throws {
      let response = HTTPResponse(302, url: chain.request.url, headers: ["Location": "/\(number)"])
      try chain.follow(response, with: try #require(try chain.proposal(response, mayKeep: { _, _ in false })))
    }
    for number in 1...20 { try hop(number) }
    let error = #expect(throws: TaskError.self) { try hop(21) }
    #expect(error?.code == .tooManyRedirects && error?.reason.contains("after 20 redirects") == true)
    #expect(chain.redirects.map(\.url.path) == (0..<20).map { "/\($0)" })
    #expect(throws: TaskError.self) { try next(302, "/b", request(), .follow(maximum: 0)) }
  }

  @Test func `.refuse follows no redirects, and .sameOrigin follows only redirects within the origin`() throws {
    #expect(try next(302, "/b", request(), .refuse) == nil)
    #expect(try next(302, "/b", request(), .sameOrigin) != nil)
    #expect(try next(302, "https://shop.test:444/b", request(), .sameOrigin) == nil)
    #expect(RedirectPolicy.follow(maximum: -1).maximum == 0)
  }

  @Test func `removes secrets if a policy changes the origin, unless the policy sets new secrets`() {
    let chain = RedirectChain(request(), .follow, .standard)
    let proposal = request(.get, headers: ["Authorization": "old", "X-A": "1"])
    var changed = proposal
    changed.url = .known("https://other.test/")
    #expect(chain.allowed(changed, for: proposal).headers == ["X-A": "1"])
    changed.headers[.authorization] = "new"
    #expect(chain.allowed(changed, for: proposal).headers[.authorization] == "new")
    #expect(chain.allowed(proposal, for: proposal).headers == proposal.headers)
  }

  @Test func `a redirect has the remaining time of the attempt or of the wait for a stream's head`() throws {
    let attempt = Timeouts(connect: .seconds(10), attempt: .seconds(30))
    #expect(try attempt.left(after: .seconds(12)).attempt == .seconds(18))
    #expect(try attempt.left(after: .seconds(12)).connect == .seconds(10))
    #expect(throws: TaskError.self) { try attempt.left(after: .seconds(30)) }
    let stream = Timeouts(connect: .seconds(10), firstByte: .seconds(30), idle: .seconds(30))
    let left = try stream.left(after: .seconds(35))
    #expect(left.connect == .seconds(5) && left.firstByte == .seconds(5) && left.idle == .seconds(30))
    #expect(throws: TaskError.self) { try stream.left(after: .seconds(40)) }
    #expect(try Timeouts().left(after: .seconds(40)) == Timeouts())
  }
}
