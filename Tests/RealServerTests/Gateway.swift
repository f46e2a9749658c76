#if os(Linux)
  import ErrandTesting
  import Foundation

  /// A server of the test's own that passes everything on to a mock server, and its answers back, as they come.
  struct Gateway: Sendable {
    let url: URL
    private let server: LocalServer

    /// An nginx: with TLS and HTTP/2, or with neither.
    static func nginx(to mock: MockServer, isSecure: Bool) async throws -> Gateway {
      try await Gateway("nginx", isSecure: isSecure) { port, folder in
        """
        daemon off;
        worker_processes 1;
        pid \(folder)/nginx.pid;
        error_log \(folder)/error.log;
        events { worker_connections 1024; }
        http {
          access_log off;
          client_max_body_size 0;
          client_body_temp_path \(folder)/body;
          proxy_temp_path \(folder)/proxy;
          fastcgi_temp_path \(folder)/fastcgi;
          uwsgi_temp_path \(folder)/uwsgi;
          scgi_temp_path \(folder)/scgi;
          ignore_invalid_headers off;
          server {
            listen 127.0.0.1:\(port) \(isSecure ? "ssl http2" : "");
            \(isSecure ? "ssl_certificate \(folder)/server.pem; ssl_certificate_key \(folder)/server.key;" : "")
            location / {
              proxy_pass \(mock.url.absoluteString);
              proxy_http_version 1.1;
              proxy_buffering off;
              proxy_request_buffering off;
              proxy_redirect off;
              proxy_read_timeout 1h;
            }
          }
        }
        """
      } arguments: {
        ["-p", $0, "-c", "\($0)/configuration", "-e", "\($0)/error.log"]
      }
    }

    /// A caddy, with TLS and HTTP/2.
    static func caddy(to mock: MockServer) async throws -> Gateway {
      try await Gateway("caddy", isSecure: true) { port, folder in
        """
        {
          admin off
          auto_https off
          servers {
            protocols h1 h2
          }
        }
        https://127.0.0.1:\(port) {
          bind 127.0.0.1
          tls \(folder)/server.pem \(folder)/server.key
          reverse_proxy 127.0.0.1:\(mock.url.port ?? 0) {
            flush_interval 1ms
            transport http {
              keepalive off
              compression off
            }
          }
        }
        """
      } arguments: {
        ["run", "--config", "\($0)/configuration", "--adapter", "caddyfile"]
      }
    }

    private init(
      _ name: String, isSecure: Bool, configuration: (UInt16, String) -> String, arguments: (String) -> [String]
    ) async throws {
      let pair = isSecure ? try Certificates.shared().server : nil
      let files = pair.map { ["server.pem": $0.certificate, "server.key": $0.key] } ?? [:]
      server = try await LocalServer(name, files: files, configuration: configuration, arguments: arguments)
      guard let url = URL(string: "\(isSecure ? "https" : "http")://127.0.0.1:\(server.port)") else {
        throw LocalServer.Failure(reason: "no URL for port \(server.port)")
      }
      self.url = url
    }
  }
#endif
