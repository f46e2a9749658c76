#if os(Linux)
  import Errand
  import Foundation
  import Testing

  @Suite(
    .enabled(if: Nginx.isExpected && Certificates.isExpected, "nginx or openssl is not installed"),
    .timeLimit(.minutes(3)))
  struct SecureConnectionTests {
    private static let hello = Data("hello\n".utf8)
    private static let compressed = Data(String(repeating: "much of the same, ", count: 2000).utf8)
    private let certificates: Certificates

    init() throws { certificates = try Certificates.shared() }

    private func start(_ change: (inout Nginx.Security) -> Void = { _ in }) async throws -> Nginx {
      var security = Nginx.Security(certificates: certificates)
      change(&security)
      return try await Nginx(files: ["hello": Self.hello, "packed": Self.compressed], security: security)
    }

    /// Returns a transport that trusts the tests' CA.
    private func trusting(_ change: (inout CurlTransport.Configuration) -> Void = { _ in }) throws -> CurlTransport {
      var configuration = CurlTransport.Configuration()
      configuration.tls.authorities = .pem(certificates.authority)
      change(&configuration)
      return try CurlTransport(configuration)
    }

    private func request(_ nginx: Nginx, pins: PublicKeyPins = PublicKeyPins()) -> HTTPRequest {
      var request = HTTPRequest(.get, nginx.url.appendingPathComponent("hello"))
      request.options.pins = pins
      return request
    }

    private func error(_ transport: CurlTransport, _ request: HTTPRequest) async throws -> TaskError {
      try #require(await #expect(throws: TaskError.self) { try await transport.send(request) })
    }

    // MARK: Trust

    @Test(.speaksHTTP2) func `connects to a trusted server with HTTP/2`() async throws {
      let nginx = try await start()
      let response = try await trusting().send(request(nginx))
      #expect(response.status == .ok && response.version == .http2)
      #expect(try await response.body.collect() == Self.hello)
      #expect(response.body.timings.map { $0.secureConnect > .zero } == true)
    }

    @Test(.speaksHTTP2) func `requests with trailers use HTTP/1.1, even while others use HTTP/2`() async throws {
      let nginx = try await start()
      let transport = try trusting()
      for version in [HTTPVersion.http2, .http1_1, .http2, .http1_1] {
        var request = request(nginx)
        if version == .http1_1 {
          request.url = nginx.url.appendingPathComponent("swallow")
          request.method = .post
          request.body = .text("hi").trailers(["X-Sum"]) { ["X-Sum": "7"] }
        }
        let response = try await transport.send(request)
        #expect(response.version == version && response.status.code < 300, "\(response.status)")
        _ = try await response.body.collect()
      }
    }

    @Test func `reads CAs from a file and uses HTTP/1.1 if preferred`() async throws {
      let nginx = try await start()
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("errand-ca-\(UUID().uuidString).pem")
      try certificates.authority.write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }  // a leftover file is harmless
      let transport = try trusting {
        $0.tls.authorities = .file(file)
        $0.version = .http1
      }
      let response = try await transport.send(request(nginx))
      #expect(response.version == .http1_1)
      #expect(try await response.body.collect() == Self.hello)
    }

    @Test func `rejects a server with an unknown CA before sending`() async throws {
      let nginx = try await start()
      let error = try await error(CurlTransport(), request(nginx))
      #expect(error.code == .untrustedServer && error.wasNotSent && !error.isRetryable, "\(error)")
    }

    @Test func `rejects a certificate for another host name`() async throws {
      let nginx = try await start()
      let port = try #require(nginx.url.port)
      let url = try #require(URL(string: "https://other.test:\(port)/hello"))
      let transport = try trusting { $0.addresses = ["other.test:\(port)": "127.0.0.1"] }
      let error = try await error(transport, HTTPRequest(.get, url))
      #expect(error.code == .untrustedServer && error.wasNotSent, "\(error)")
    }

    @Test func `expired, misnamed, self-signed and unknown certificates have distinct errors`()
      async throws
    {
      let right = try await start()
      let port = try #require(right.url.port)
      let elsewhere = try #require(URL(string: "https://other.test:\(port)/hello"))
      let expired = try await start { $0.shown = certificates.expired }
      let alone = try await start { $0.shown = certificates.selfSigned }
      let errors = [
        try await error(trusting(), request(expired)),
        try await error(
          trusting { $0.addresses = ["other.test:\(port)": "127.0.0.1"] }, HTTPRequest(.get, elsewhere)),
        try await error(trusting(), request(alone)), try await error(CurlTransport(), request(right)),
      ]
      for error in errors {
        #expect(error.code == .untrustedServer && error.wasNotSent && !error.isRetryable, "\(error)")
      }
      let words = ["expired", "other.test", "self", "issuer"]
      for (error, word) in zip(errors, words) { #expect(error.reason.contains(word), "\(error.reason)") }
      #expect(Set(errors.map(\.reason)).count == errors.count)
      let causes = ["certificateExpired", "certificateName", "certificateUnknown", "certificateUnknown"]
      #expect(errors.map { $0.diagnosis?.name } == causes)
    }

    @Test func `distinguishes a server without TLS from a failed handshake`() async throws {
      let plain = try await Nginx(files: ["hello": Self.hello])
      let port = try #require(plain.url.port)
      let url = try #require(URL(string: "https://127.0.0.1:\(port)/hello"))
      let error = try await error(trusting(), HTTPRequest(.get, url))
      #expect(error.code == .secureConnectionFailed && error.diagnosis?.name == "plainServer", "\(error)")
    }

    @Test func `rejects a TLS version that is too old`() async throws {
      let nginx = try await start { $0.protocols = "TLSv1.2" }
      #expect(try await trusting().send(request(nginx)).status == .ok)
      let error = try await error(trusting { $0.tls.minimumVersion = .tls1_3 }, request(nginx))
      #expect(error.code == .secureConnectionFailed && error.wasNotSent, "\(error)")
      #expect(error.diagnosis?.name == "tlsRefused", "\(error)")
    }

    @Test func `presents a client certificate if the server requests it`() async throws {
      let nginx = try await start { $0.asksForCertificate = true }
      let stranger = try await trusting().send(request(nginx))
      #expect(stranger.status == .badRequest, "nginx requires a client certificate")
      let transport = try trusting {
        $0.tls.identity = .init(certificate: certificates.client.certificate, key: certificates.client.key)
      }
      #expect(try await transport.send(request(nginx)).status == .ok)
    }

    // MARK: Pins

    @Test func `accepts a server with a pinned key`() async throws {
      let nginx = try await start()
      var pins = PublicKeyPins()
      pins.register("sha256/\(certificates.serverPin)", for: "127.0.0.1")
      #expect(try await trusting().send(request(nginx, pins: pins)).status == .ok)
    }

    @Test func `rejects a key that is not pinned with an error that names the server's key`() async throws {
      let nginx = try await start()
      var pins = PublicKeyPins()
      pins.register("sha256/\(String(repeating: "A", count: 43))=", for: "127.0.0.1")
      let error = try await error(trusting(), request(nginx, pins: pins))
      #expect(error.code == .pinMismatch && error.wasNotSent, "\(error)")
      #expect(error.reason.contains("sha256/\(certificates.serverPin)"), "\(error)")
    }

    @Test func `does not accept a key whose pin has expired`() async throws {
      let nginx = try await start()
      var pins = PublicKeyPins()
      pins.register("sha256/\(certificates.serverPin)", for: "127.0.0.1", until: Date(timeIntervalSinceNow: -60))
      #expect(try await error(trusting(), request(nginx, pins: pins)).code == .pinMismatch)
    }

    @Test func `does not reuse an unpinned connection for a pinned request`() async throws {
      let nginx = try await start()
      let transport = try trusting()
      _ = try await transport.send(request(nginx)).body.collect()
      var pins = PublicKeyPins()
      pins.register("sha256/\(String(repeating: "A", count: 43))=", for: "127.0.0.1")
      #expect(try await error(transport, request(nginx, pins: pins)).code == .pinMismatch)
    }

    // MARK: HTTP/2

    @Test(.speaksHTTP2) func `200 concurrent requests share a few connections`() async throws {
      let nginx = try await start()
      let transport = try trusting()
      try await withThrowingTaskGroup { group in
        for _ in 0..<200 {
          group.addTask {
            let response = try await transport.send(request(nginx))
            #expect(response.version == .http2)
            #expect(try await response.body.collect() == Self.hello)
          }
        }
        try await group.waitForAll()
      }
      let counts = try #require(await transport.connections().first)
      #expect(counts.value.open <= 3, "\(counts)")
    }

    @Test(.breaksSharedConnections)
    func `no call fails if the server ends each connection after ten requests`() async throws {
      let nginx = try await start { $0.requestsPerConnection = 10 }
      // The transport resends a request once. If the second connection also ends, the call is retried.
      let server = Server(.none, transport: try trusting())
      await server.update { $0.retryPolicy = .fixed(retries: 4, delay: .zero) }
      let task = URLTask(request(nginx).url).on(server)
      try await withThrowingTaskGroup { group in
        for _ in 0..<8 {
          group.addTask {
            for _ in 0..<50 {
              let body = try await task.download()
              #expect(body == Self.hello)
            }
          }
        }
        try await group.waitForAll()
      }
    }

    @Test func `abandoning a stream does not affect other streams on its connection`() async throws {
      let nginx = try await start()
      let transport = try trusting()
      try await withThrowingTaskGroup { group in
        for index in 0..<200 {
          group.addTask {
            let response = try await transport.send(request(nginx))
            if index.isMultiple(of: 2) { return }
            #expect(try await response.body.collect() == Self.hello)
          }
        }
        try await group.waitForAll()
      }
    }

    @Test func `uploads a body and decompresses a download`() async throws {
      let nginx = try await start()
      let transport = try trusting()
      let body = HTTPBody.bytes(Data(count: 5 << 20))
      let up = try await transport.send(HTTPRequest(.post, nginx.url.appendingPathComponent("swallow"), body: body))
      #expect(up.status == .noContent)
      var request = HTTPRequest(.get, nginx.url.appendingPathComponent("packed"))
      request.options.decodesBody = true
      let down = try await transport.send(request)
      #expect(down.headers[.contentEncoding] != nil)
      #expect(try await down.body.collect() == Self.compressed)
      #expect(down.body.timings.map { $0.bytesReceived < $0.bytesDecoded / 10 } == true)
    }
  }
#endif
