#if os(Linux)
  import ErrandTesting
  import Foundation

  /// A private reverse proxy in front of a mock server that forwards requests and responses without buffering.
  struct Gateway: Sendable {
    let url: URL
    /// The running server, kept alive with the gateway.
    let server: any Sendable

    /// Starts an nginx without TLS.
    static func nginx(to mock: MockServer) async throws -> Gateway {
      let nginx = try await Nginx(passingTo: mock.url)
      return Gateway(url: nginx.url, server: nginx)
    }

    /// Starts an nginx with TLS and HTTP/2.
    static func secureNginx(to mock: MockServer) async throws -> Gateway {
      let nginx = try await Nginx(
        security: Nginx.Security(certificates: try Certificates.shared()), passingTo: mock.url)
      return Gateway(url: nginx.url, server: nginx)
    }

    /// Starts a caddy with TLS and HTTP/2, optionally with HTTP/3.
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
