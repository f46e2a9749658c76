#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  @Suite(.enabled(if: Squid.isExpected, "squid is not installed"), .timeLimit(.minutes(3)))
  struct ProxyTests {
    private let mock: MockServer

    init() throws {
      mock = try MockServer()
      mock.route("/*", answer: .text("from the origin"))
    }

    private func transport(by proxy: Proxy, except: [String] = []) throws -> CurlTransport {
      var configuration = CurlTransport.Configuration()
      configuration.proxies = .all(proxy, except: except)
      if Certificates.isExpected { configuration.tls.authorities = .pem(try Certificates.shared().authority) }
      return try CurlTransport(configuration)
    }

    /// Replaces the host with a name that only the proxy or a transport configured for it can resolve.
    private func named(_ url: URL, _ path: String = "") throws -> URL {
      try #require(URL(string: "\(url.scheme ?? "")://shop.test:\(url.port ?? 0)/\(path)"))
    }

    private func secureOrigin() async throws -> Nginx {
      try await Nginx(files: ["hello": Data("hello\n".utf8)], security: .init(certificates: Certificates.shared()))
    }

    @Test func `sends a plain request through the proxy`() async throws {
      let squid = try await Squid()
      let response = try await transport(by: squid.proxy).send(HTTPRequest(.get, named(mock.url, "a")))
      #expect(try await response.body.collect() == Data("from the origin".utf8))
      #expect(response.headers["Via"]?.contains("errand-squid") == true)
      #expect(mock.requests.first?.headers["Via"]?.contains("errand-squid") == true)
    }

    @Test func `connects directly to an excluded host`() async throws {
      let squid = try await Squid()
      var configuration = CurlTransport.Configuration()
      configuration.addresses = ["shop.test:\(mock.url.port ?? 0)": "127.0.0.1"]
      for (exceptions, isDirect) in [(["SHOP.test."], true), ([".test"], true), (["other.test"], false)] {
        configuration.proxies = .all(squid.proxy, except: exceptions)
        let response = try await CurlTransport(configuration).send(HTTPRequest(.get, named(mock.url)))
        #expect((response.headers["Via"] == nil) == isDirect)
        #expect((mock.requests.last?.headers["Via"] == nil) == isDirect)
      }
    }

    @Test func `never uses a proxy for requests to this machine`() async throws {
      let squid = try await Squid()
      var configuration = CurlTransport.Configuration()
      configuration.proxies = .environment(["http_proxy": "http://127.0.0.1:\(squid.proxy.port)"])
      let port = mock.url.port ?? 0
      for host in ["127.0.0.1", "localhost", "LOCALHOST.", "127.1"] {
        configuration.addresses = ["localhost:\(port)": "127.0.0.1"]
        for transport in [try CurlTransport(configuration), try transport(by: squid.proxy)] {
          let url = try #require(URL(string: "http://\(host):\(port)/a"))
          let response = try await transport.send(HTTPRequest(.get, url, headers: [.authorization: "Bearer secret"]))
          #expect(response.headers["Via"] == nil, "\(host)")
          #expect(mock.requests.last?.headers["Via"] == nil, "\(host)")
        }
      }
    }

    @Test func `reads the proxy, its credentials and its exclusions from the environment`() async throws {
      let squid = try await Squid(asksForCredential: true)
      var environment = ["http_proxy": "http://somebody:open%20sesame@127.0.0.1:\(squid.proxy.port)"]
      var configuration = CurlTransport.Configuration()
      configuration.addresses = ["shop.test:\(mock.url.port ?? 0)": "127.0.0.1"]
      configuration.proxies = .environment(environment)
      let request = HTTPRequest(.get, try named(mock.url))
      #expect(try await CurlTransport(configuration).send(request).headers["Via"]?.contains("errand-squid") == true)
      environment["NO_PROXY"] = "other.test, shop.test:\(mock.url.port ?? 0)"
      configuration.proxies = .environment(environment)
      #expect(try await CurlTransport(configuration).send(request).headers["Via"] == nil)
    }

    @Test(arguments: [("some\r\nX-Evil: 1", "word"), ("somebody", "wo\0rd"), ("some:body", "word")])
    func `rejects proxy credentials with invalid characters`(user: String, password: String) async throws {
      var proxy = Proxy(host: "127.0.0.1", port: 9)
      proxy.credential = Credential(user: user, password: password)
      let error = await #expect(throws: TaskError.self) {
        try await transport(by: proxy).send(HTTPRequest(.get, named(mock.url)))
      }
      #expect(error?.code == .badRequest && error?.wasNotSent == true, "\(String(describing: error))")
    }

    @Test(.speaksHTTP2, .enabled(if: Nginx.isExpected && Certificates.isExpected, "nginx or openssl is not installed"))
    func `an https request uses a tunnel and still checks the server's certificate`() async throws {
      let squid = try await Squid()
      let nginx = try await secureOrigin()
      let request = HTTPRequest(.get, try named(nginx.url, "hello"))
      let response = try await transport(by: squid.proxy).send(request)
      #expect(response.headers["Via"] == nil && response.version == .http2)
      #expect(try await response.body.collect() == Data("hello\n".utf8))
      var distrustful = CurlTransport.Configuration()
      distrustful.proxies = .all(squid.proxy)
      let error = await #expect(throws: TaskError.self) { try await CurlTransport(distrustful).send(request) }
      #expect(error?.code == .untrustedServer)
    }

    @Test func `a request without proxy credentials throws .proxyAuthenticationRequired`() async throws {
      let squid = try await Squid(asksForCredential: true)
      let error = await #expect(throws: TaskError.self) {
        try await transport(by: squid.proxy).send(HTTPRequest(.post, named(mock.url), body: .text("x")))
      }
      #expect(error?.code == .proxyAuthenticationRequired && error?.wasNotSent == true)
      #expect(mock.requestCount == 0)
    }

    @Test func `does not send the proxy credentials to the origin`() async throws {
      let squid = try await Squid(asksForCredential: true)
      var proxy = squid.proxy
      proxy.credential = Squid.credential
      let response = try await transport(by: proxy).send(HTTPRequest(.get, named(mock.url)))
      #expect(response.status == .ok)
      #expect(mock.requests.first?.headers[.proxyAuthorization] == nil, "the origin must not receive the credential")
    }

    @Test(.enabled(if: Nginx.isExpected && Certificates.isExpected, "nginx or openssl is not installed"))
    func `renews rejected proxy credentials with or without a tunnel`() async throws {
      let squid = try await Squid(asksForCredential: true)
      let nginx = try await secureOrigin()
      for url in [try named(mock.url), try named(nginx.url, "hello")] {
        let refused = Refused()
        var proxy = squid.proxy
        proxy.credential = Credential(user: "somebody", password: "wrong")
        proxy.renewCredential = { await refused.note($0) ? Squid.credential : nil }
        var configuration = ServerConfiguration()
        configuration.log = .discard
        configuration.insecureHosts = [url.host ?? ""]
        let server = Server(.none, configuration: configuration, transport: try transport(by: proxy))
        for _ in 1...2 { #expect(try await URLTask(url).on(server).run().status == .ok) }
        #expect(await refused.passwords == ["wrong"], "the second request uses the renewed credential")
      }
    }

    @Test(.enabled(if: Nginx.isExpected && Certificates.isExpected, "nginx or openssl is not installed"))
    func `a tunnel without proxy credentials throws .proxyAuthenticationRequired`() async throws {
      let squid = try await Squid(asksForCredential: true)
      let nginx = try await secureOrigin()
      let error = await #expect(throws: TaskError.self) {
        try await transport(by: squid.proxy).send(HTTPRequest(.get, named(nginx.url)))
      }
      #expect(
        error?.code == .proxyAuthenticationRequired && error?.wasNotSent == true, "\(String(describing: error))")
    }

    private actor Refused {
      var passwords: [String?] = []

      func note(_ credential: Credential?) -> Bool {
        passwords.append(credential?.password)
        return true
      }
    }
  }
#endif
