#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  @Suite(.enabled(if: Squid.isExpected, "squid is not installed"), .timeLimit(.minutes(1)))
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

    private func secureOrigin() async throws -> Nginx {
      try await Nginx(files: ["hello": Data("hello\n".utf8)], security: .init(certificates: Certificates.shared()))
    }

    @Test func `a plain request is handed to the proxy whole`() async throws {
      let squid = try await Squid()
      let response = try await transport(by: squid.proxy).send(HTTPRequest(.get, mock.url.appending(path: "a")))
      #expect(try await response.body.collect() == Data("from the origin".utf8))
      #expect(response.headers["Via"]?.contains("errand-squid") == true)
      #expect(mock.requests.first?.headers["Via"]?.contains("errand-squid") == true)
    }

    @Test func `a host among the exceptions is reached directly`() async throws {
      let squid = try await Squid()
      let transport = try transport(by: squid.proxy, except: ["127.0.0.1"])
      #expect(try await transport.send(HTTPRequest(.get, mock.url)).headers["Via"] == nil)
      #expect(mock.requests.first?.headers["Via"] == nil)
    }

    @Test(.enabled(if: Nginx.isExpected && Certificates.isExpected, "nginx or openssl is not installed"))
    func `https goes through a tunnel, its certificate checked as ever`() async throws {
      let squid = try await Squid()
      let nginx = try await secureOrigin()
      let request = HTTPRequest(.get, nginx.url.appendingPathComponent("hello"))
      let response = try await transport(by: squid.proxy).send(request)
      #expect(response.headers["Via"] == nil && response.version == .http2)
      #expect(try await response.body.collect() == Data("hello\n".utf8))
      var distrustful = CurlTransport.Configuration()
      distrustful.proxies = .all(squid.proxy)
      let error = await #expect(throws: TaskError.self) { try await CurlTransport(distrustful).send(request) }
      #expect(error?.code == .untrustedServer)
    }

    @Test func `a proxy that asks for a credential and gets none is an error of its own`() async throws {
      let squid = try await Squid(asksForCredential: true)
      let error = await #expect(throws: TaskError.self) {
        try await transport(by: squid.proxy).send(HTTPRequest(.post, mock.url, body: .text("x")))
      }
      #expect(error?.code == .proxyAuthenticationRequired && error?.isSurelyNotSent == true)
      #expect(mock.requestCount == 0)
    }

    @Test func `a credential that is right lets requests pass`() async throws {
      let squid = try await Squid(asksForCredential: true)
      var proxy = squid.proxy
      proxy.credential = Squid.credential
      let response = try await transport(by: proxy).send(HTTPRequest(.get, mock.url))
      #expect(response.status == .ok)
      #expect(mock.requests.first?.headers[.proxyAuthorization] == nil, "it is the proxy's alone")
    }

    @Test(.enabled(if: Nginx.isExpected && Certificates.isExpected, "nginx or openssl is not installed"))
    func `a refused credential is renewed, for a tunnel as well`() async throws {
      let squid = try await Squid(asksForCredential: true)
      let nginx = try await secureOrigin()
      for url in [mock.url, nginx.url.appendingPathComponent("hello")] {
        let refused = Refused()
        var proxy = squid.proxy
        proxy.credential = Credential(user: "somebody", password: "wrong")
        proxy.renewCredential = { await refused.note($0) ? Squid.credential : nil }
        let response = try await transport(by: proxy).send(HTTPRequest(.get, url))
        #expect(response.status == .ok)
        #expect(await refused.passwords == ["wrong"])
      }
    }

    @Test(.enabled(if: Nginx.isExpected && Certificates.isExpected, "nginx or openssl is not installed"))
    func `a tunnel that is refused is an error of its own`() async throws {
      let squid = try await Squid(asksForCredential: true)
      let nginx = try await secureOrigin()
      let error = await #expect(throws: TaskError.self) {
        try await transport(by: squid.proxy).send(HTTPRequest(.get, nginx.url))
      }
      #expect(
        error?.code == .proxyAuthenticationRequired && error?.isSurelyNotSent == true, "\(String(describing: error))")
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
