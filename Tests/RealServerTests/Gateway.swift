#if os(Linux)
  import ErrandTesting
  import Foundation

  /// A server of the test's own that passes everything on to a mock server, and its answers back, as they come.
  struct Gateway: Sendable {
    let url: URL
    /// What runs it, kept as long as the gateway.
    let server: any Sendable

    /// An nginx without TLS.
    static func nginx(to mock: MockServer) async throws -> Gateway {
      let nginx = try await Nginx(passingTo: mock.url)
      return Gateway(url: nginx.url, server: nginx)
    }

    /// An nginx over TLS with HTTP/2.
    static func secureNginx(to mock: MockServer) async throws -> Gateway {
      let nginx = try await Nginx(
        security: Nginx.Security(certificates: try Certificates.shared()), passingTo: mock.url)
      return Gateway(url: nginx.url, server: nginx)
    }

    /// A caddy, over TLS with HTTP/2, or HTTP/3 besides.
    static func caddy(to mock: MockServer, protocols: String = "h1 h2") async throws -> Gateway {
      let caddy = try await Caddy(protocols: protocols) { _ in
        """
        reverse_proxy 127.0.0.1:\(mock.url.port ?? 0) {
            flush_interval 1ms
            transport http {
              keepalive off
              compression off
            }
          }
        """
      }
      return Gateway(url: caddy.url, server: caddy)
    }
  }
#endif
