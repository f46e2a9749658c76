#if os(Linux)
  import Errand
  import Foundation
  import Testing

  /// Redirects, cookies and the cache with caddy over TLS and HTTP/2.
  @Suite(.enabled(if: Caddy.isExpected, "caddy or openssl is not installed"), .timeLimit(.minutes(3)))
  struct CaddyCacheTests {
    private struct Fetch: PayloadDownloadingTask {
      typealias DownloadPayload = String
      let path: String
    }

    private func start() async throws -> (Caddy, Server) {
      let caddy = try await Caddy(files: ["root/hello": Data("hello\n".utf8)]) { folder in
        """
        root * \(folder)/root
          encode gzip
          redir /old /hello 308
          header /set Set-Cookie "a=1; Path=/; Secure"
          redir /set /seen 303
          respond /seen "{header.Cookie}"
          header /fresh Cache-Control max-age=60
          respond /fresh "fresh"
          file_server
        """
      }
      var configuration = CurlTransport.Configuration()
      configuration.tls.authorities = .pem(try Certificates.shared().authority)
      let server = Server(Remote(caddy.url.absoluteString), transport: try CurlTransport(configuration))
      await server.update { $0.cache = MemoryCache() }
      return (caddy, server)
    }

    @Test(.speaksHTTP2) func `follows a redirect and revalidates by ETag`() async throws {
      let (caddy, server) = try await start()
      let first = try await Fetch(path: "old").on(server).response()
      #expect(first.payload == "hello\n" && first.response.version == .http2)
      #expect(first.response.redirects.map(\.status) == [308] && first.response.url.path == "/hello")
      _ = try await Fetch(path: "hello").on(server).response()
      let second = try await Fetch(path: "hello").on(server).caching(.validated).response()
      #expect(second.payload == "hello\n" && second.attempts.map(\.status) == [.notModified])
      #expect(second.headers[.cacheStatus]?.contains("fwd-status=304") == true)
      withExtendedLifetime(caddy) {}
    }

    @Test func `serves fresh responses from the cache and sends a cookie set by a redirect`() async throws {
      let (caddy, server) = try await start()
      _ = try await Fetch(path: "fresh").on(server).response()
      let second = try await Fetch(path: "fresh").on(server).response()
      #expect(second.payload == "fresh" && second.headers[.cacheStatus]?.hasPrefix("errand; hit") == true)
      #expect(try await Fetch(path: "set").on(server).download() == "a=1")
      withExtendedLifetime(caddy) {}
    }
  }
#endif
