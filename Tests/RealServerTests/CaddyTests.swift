#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// Tests the transport with another HTTP/2 implementation.
  @Suite(.enabled(if: Caddy.isExpected, "caddy or openssl is not installed"), .timeLimit(.minutes(3)))
  struct CaddyTests {
    private static let large = Data((0..<(8 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 131) })

    private func start() async throws -> (Caddy, Server, CurlTransport) {
      let caddy = try await Caddy(files: ["root/large": Self.large, "root/hello": Data("hello\n".utf8)]) { folder in
        """
        root * \(folder)/root
          file_server
        """
      }
      var configuration = CurlTransport.Configuration()
      configuration.tls.authorities = .pem(try Certificates.shared().authority)
      let transport = try CurlTransport(configuration)
      return (caddy, Server(Remote(caddy.url.absoluteString), transport: transport), transport)
    }

    private struct Fetch: PayloadDownloadingTask {
      typealias DownloadPayload = Data
      let path: String
    }

    @Test(.speaksHTTP2) func `200 HTTP/2 tasks share a few connections`() async throws {
      let (caddy, server, transport) = try await start()
      let first = try await Fetch(path: "hello").on(server).response()
      #expect(first.response.version == .http2 && first.payload == Data("hello\n".utf8))
      let tasks = (0..<200).map { _ in Fetch(path: "hello").on(server) }
      let count = try await server.manager.withResults(of: tasks, limit: 50) { results in
        await results.reduce(0) { $0 + ((try? $1.result.get())?.count == 6 ? 1 : 0) }
      }
      #expect(count == 200)
      #expect(await transport.connections().values.allSatisfy { $0.open <= 3 })
      withExtendedLifetime(caddy) {}
    }

    // The response is read before libcurl watches the socket, so the connection is not idle.
    @Test func `receives immediate responses completely over a reused connection`() async throws {
      let mock = try MockServer(keeping: 0)
      mock.route("/*", answer: .data(Data(count: 1_500_000)))
      let gateway = try await Gateway.caddy(to: mock)
      var configuration = CurlTransport.Configuration()
      configuration.tls.authorities = .pem(try Certificates.shared().authority)
      for _ in 0..<100 {
        let transport = try CurlTransport(configuration)
        for _ in 0..<4 {
          let response = try await transport.send(HTTPRequest(.get, gateway.url))
          #expect(try await response.body.collect().count == 1_500_000)
        }
      }
    }

    @Test func `a large file arrives intact despite abandoned streams`() async throws {
      let (caddy, server, _) = try await start()
      for _ in 0..<10 {
        for try await _ in try await Fetch(path: "large").on(server).stream().body { break }
      }
      #expect(try await Fetch(path: "large").on(server).download() == Self.large)
      withExtendedLifetime(caddy) {}
    }
  }
#endif
