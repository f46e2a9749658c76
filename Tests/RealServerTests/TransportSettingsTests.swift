#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// Transport settings whose effects real servers can observe.
  @Suite(
    .enabled(if: Nginx.isExpected && Certificates.isExpected, "nginx or openssl is not installed"),
    .timeLimit(.minutes(3)))
  struct TransportSettingsTests {
    private let certificates: Certificates

    init() throws { certificates = try Certificates.shared() }

    private func start(_ change: (inout Nginx.Security) -> Void = { _ in }) async throws -> Nginx {
      var security = Nginx.Security(certificates: certificates)
      change(&security)
      return try await Nginx(files: ["hello": Data("hello\n".utf8)], security: security)
    }

    private func transport(_ change: (inout CurlTransport.Configuration) -> Void) throws -> CurlTransport {
      var configuration = CurlTransport.Configuration()
      change(&configuration)
      return try CurlTransport(configuration)
    }

    private func error(_ transport: CurlTransport, _ request: HTTPRequest) async throws -> TaskError {
      try #require(await #expect(throws: TaskError.self) { try await transport.send(request) })
    }

    @Test func `a transport without verification accepts any certificate, but other transports do not`() async throws {
      let nginx = try await start { $0.shown = certificates.expired }
      let port = try #require(nginx.url.port)
      // The certificate has expired, is for another name, and is signed by an unknown CA.
      let request = HTTPRequest(.get, try #require(URL(string: "https://other.test:\(port)/hello")))
      for isChecked in [false, true, false] {
        let transport = try transport {
          $0.addresses = ["other.test:\(port)": "127.0.0.1"]
          if !isChecked { $0.tls.verification = .dangerouslyNone }
        }
        if isChecked {
          #expect(try await error(transport, request).code == .untrustedServer)
        } else {
          #expect(try await transport.send(request).status == .ok)
        }
      }
    }

    @Test(.speaksHTTP2)
    func `sends sequential and concurrent requests over HTTP/2 with prior knowledge`()
      async throws
    {
      let nginx = try await Nginx(files: ["hello": Data("hello\n".utf8)], speaksHTTP2: true)
      let transport = try transport { $0.version = .http2PriorKnowledge }
      @Sendable func fetch() async throws {
        let response = try await transport.send(HTTPRequest(.get, nginx.url.appendingPathComponent("hello")))
        #expect(response.version == .http2)
        #expect(try await response.body.collect() == Data("hello\n".utf8))
      }
      for _ in 0..<5 { try await fetch() }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<20 { group.addTask { try await fetch() } }
        try await group.waitForAll()
      }
    }

    @Test(.speaksHTTP2, .enabled(if: HTTP2Peer.isExpected, "python3 with the package h2 is not installed"))
    func `a truncated body of unknown length fails over HTTP/2 without TLS`() async throws {
      let peer = try await HTTP2Peer(isSecure: false)
      let transport = try peer.transport()
      let closes = (0x075800..<0x080000).contains(CurlLibrary.versionNumber)
      for _ in 0..<5 {
        let response = try await transport.send(HTTPRequest(.get, peer.url.appendingPathComponent("unstated")))
        #expect(response.version == .http2)
        #expect(try await response.body.collect() == Data("ok".utf8))
      }
      #expect(await eventually { await transport.connections().values.allSatisfy { $0.open == 0 } || !closes })
      // Test the first and a later request of a transport.
      for path in ["cut", "broken", "cut", "broken"] {
        // Newer libcurl versions name the violation.
        let codes: [TaskError.Code?] =
          [.truncatedBody, .connectionLost] + (path == "cut" ? [] : [.timedOut, .badResponse])
        for transport in [transport, try peer.transport()] {
          let error = await #expect(throws: TaskError.self, "\(path)") {
            // libcurl forgets a violation that arrives together with part of the body, so the idle timeout ends the
            // exchange.
            var options = TransferOptions()
            options.timeouts = Timeouts(idle: .seconds(1))
            let request = HTTPRequest(.get, peer.url.appendingPathComponent(path), options: options)
            return try await transport.send(request).body.collect()
          }
          #expect(
            codes.contains(error?.code), "\(path): \(String(describing: error))")
        }
      }
    }

    @Test(.speaksHTTP2, .enabled(if: HTTP2Peer.isExpected, "python3 with the package h2 is not installed"))
    func `an origin that switches from HTTP/1.1 to HTTP/2 remains reachable`() async throws {
      let peer = try await HTTP2Peer(beginsWithHTTP1: true)
      let transport = try peer.transport()
      for method in [HTTPMethod.get, .get, .post, .get] {
        let response = try await transport.send(HTTPRequest(method, peer.url.appendingPathComponent("hello")))
        #expect(try await response.body.collect() == Data("hello".utf8))
      }
      let request = HTTPRequest(.get, peer.url.appendingPathComponent("hello"))
      #expect(try await peer.transport().send(request).version == .http2, "the peer supports HTTP/2")
    }

    @Test func `rejects a Unix socket path with a NUL before sending`() async throws {
      let nginx = try await start()
      let transport = try transport { $0.unixSocket = "/tmp/socket\0/other" }
      let error = try await error(transport, HTTPRequest(.get, nginx.url.appendingPathComponent("hello")))
      #expect(error.wasNotSent && error.phase == .preparing, "\(error)")
    }

    @Test func `loads CAs from memory if libcurl supports it`() {
      // Applies to OpenSSL, which all tested versions use.
      #expect(CurlLibrary.takesAuthorities == (CurlLibrary.versionNumber >= 0x074d00))
    }

    @Test func `an encrypted private key can be used only with its password`() async throws {
      let nginx = try await start { $0.asksForCertificate = true }
      let key = try encrypted(certificates.client.key, password: "open sesame")
      for (password, isRight) in [("open sesame", true), ("open barley", false)] {
        let transport = try transport {
          $0.tls.authorities = .pem(certificates.authority)
          $0.tls.identity = .init(certificate: certificates.client.certificate, key: key, password: password)
        }
        let request = HTTPRequest(.get, nginx.url.appendingPathComponent("hello"))
        if isRight {
          #expect(try await transport.send(request).status == .ok)
        } else {
          let error = try await error(transport, request)
          #expect(error.wasNotSent && !error.description.contains(password), "\(error)")
        }
      }
    }

    private func encrypted(_ key: Data, password: String) throws -> Data {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-key-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }  // leftovers are harmless
      try key.write(to: folder.appendingPathComponent("plain"))
      try Data(password.utf8).write(to: folder.appendingPathComponent("password"))
      let status = Shell.runAndBlock(
        "cd '\(folder.path)' && openssl ec -in plain -aes256 -passout file:password -out sealed 2> errors")
      try #require(status == 0)
      return try Data(contentsOf: folder.appendingPathComponent("sealed"))
    }

    /// Sends an http request through a TLS proxy, which is an nginx that returns the requested target.
    private func plainRequest(by nginx: Nginx, _ change: (inout CurlTransport.Configuration) -> Void) throws -> (
      CurlTransport, HTTPRequest
    ) {
      let proxy = try #require(Proxy("https://127.0.0.1:\(nginx.url.port ?? 0)"))
      let transport = try transport {
        $0.proxies = .all(proxy)
        change(&$0)
      }
      return (transport, HTTPRequest(.get, try #require(URL(string: "http://other.test:81/echo/name"))))
    }

    @Test func `checks the certificate of a TLS proxy`() async throws {
      let nginx = try await start()
      try await withAuthorityFile { file in
        for authorities in [TLSSettings.Authorities.pem(certificates.authority), .file(file)] {
          let (transport, request) = try plainRequest(by: nginx) { $0.tls.authorities = authorities }
          let response = try await transport.send(request)
          #expect(try await response.body.collect() == Data("other.test:81 \n".utf8))
        }
      }
      let (distrustful, request) = try plainRequest(by: nginx) { _ in }
      let error = try await error(distrustful, request)
      #expect(error.code == .untrustedServer && (error.wasNotSent || !keepsConnections), "\(error)")
    }

    @Test func `the settings for verification and the minimum version also apply to TLS proxies`()
      async throws
    {
      let nginx = try await start {
        $0.shown = certificates.selfSigned
        $0.protocols = "TLSv1.2"
      }
      let (trustful, request) = try plainRequest(by: nginx) { $0.tls.verification = .dangerouslyNone }
      #expect(try await trustful.send(request).status == .ok)
      let (modern, _) = try plainRequest(by: nginx) {
        $0.tls.verification = .dangerouslyNone
        $0.tls.minimumVersion = .tls1_3
      }
      let error = try await error(modern, request)
      #expect(error.code == .secureConnectionFailed && (error.wasNotSent || !keepsConnections), "\(error)")
    }

    private func withAuthorityFile(_ body: (URL) async throws -> Void) async throws {
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("errand-ca-\(UUID().uuidString).pem")
      try certificates.authority.write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }  // leftovers are harmless
      try await body(file)
    }
  }
#endif
