#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  @Suite(.enabled(if: SocksProxy.isExpected, "python3 is not installed"), .timeLimit(.minutes(3)))
  struct SocksProxyTests {
    private let mock: MockServer

    init() throws {
      mock = try MockServer()
      mock.route("/*", answer: .text("from the origin"))
    }

    private func transport(by proxy: Proxy) throws -> CurlTransport {
      var configuration = CurlTransport.Configuration()
      configuration.proxies = .all(proxy)
      return try CurlTransport(configuration)
    }

    private func request() throws -> (HTTPRequest, port: Int) {
      let port = try #require(mock.url.port)
      return (HTTPRequest(.get, try #require(URL(string: "http://shop.test:\(port)/a"))), port)
    }

    @Test func `sends a request through the proxy, which resolves the name`() async throws {
      let socks = try await SocksProxy()
      let (request, port) = try request()
      let response = try await transport(by: socks.proxy).send(request)
      #expect(try await response.body.collect() == Data("from the origin".utf8))
      #expect(socks.seen == ["name shop.test \(port)"])
      #expect(mock.requests.first?.headers[.host] == "shop.test:\(port)")
    }

    @Test func `accepts correct credentials and rejects missing or incorrect credentials`() async throws {
      let socks = try await SocksProxy(asksForCredential: true)
      var proxy = socks.proxy
      proxy.credential = SocksProxy.credential
      #expect(try await transport(by: proxy).send(request().0).status == .ok)
      for credential in [nil, Credential(user: "somebody", password: "open barley")] {
        proxy.credential = credential
        let error = await #expect(throws: TaskError.self) { try await transport(by: proxy).send(request().0) }
        #expect(error?.wasNotSent == true && error?.code == .proxyAuthenticationRequired)
      }
      #expect(mock.requestCount == 1)
    }

    @Test func `renews rejected credentials once and then fails the call without a retry`() async throws {
      let socks = try await SocksProxy(asksForCredential: true)
      for isRight in [true, false] {
        let asked = Shared(0)
        var proxy = socks.proxy
        proxy.credential = Credential(user: "somebody", password: "open barley")
        proxy.renewCredential = { _ in
          asked.withLock { $0 += 1 }
          return isRight ? SocksProxy.credential : Credential(user: "somebody", password: "open rye")
        }
        let server = Server("http://shop.test:\(try request().port)", transport: try transport(by: proxy)) {
          $0.insecureHosts = ["shop.test"]
        }
        if isRight {
          #expect(try await server.data(.get("a")) == Data("from the origin".utf8))
        } else {
          let error = await #expect(throws: TaskError.self) { try await server.data(.get("a")) }
          #expect(error?.code == .proxyAuthenticationRequired && error?.isOffline == false)
          #expect(error?.attempts.count == 1)
        }
        #expect(asked.withLock { $0 } == (isRight ? 1 : 2), "the second answer equals the rejected credential")
      }
    }

    @Test func `a 407 from the origin does not renew the proxy credentials`() async throws {
      let socks = try await SocksProxy()
      mock.enqueue(.status(407, body: "mine"))
      let asked = Shared(0)
      var proxy = socks.proxy
      proxy.renewCredential = { _ in
        asked.withLock { $0 += 1 }
        return SocksProxy.credential
      }
      var request = try request().0
      request.method = .post
      request.body = .text("once")
      let response = try await transport(by: proxy).send(request)
      #expect(response.status == 407)
      #expect(try await response.body.collect() == Data("mine".utf8))
      #expect(mock.requestCount == 1 && asked.withLock { $0 } == 0)
    }

    @Test func `uses a SOCKS proxy from the environment`() async throws {
      let socks = try await SocksProxy(asksForCredential: true)
      let url = "socks5h://somebody:open%20sesame@127.0.0.1:\(socks.proxy.port)"
      var configuration = CurlTransport.Configuration()
      configuration.proxies = .environment(["ALL_PROXY": url])
      #expect(try await CurlTransport(configuration).send(request().0).status == .ok)
      #expect(socks.seen.count == 1)
    }
  }
#endif
