#if os(Linux)
  import Foundation

  /// A private caddy with TLS. It stops when it is released.
  final class Caddy: Sendable {
    let url: URL
    private let server: LocalServer

    static let isExpected = LocalServer.isExpected("caddy") && Certificates.isExpected

    /// Starts caddy with these files.
    ///
    /// - Parameters:
    ///   - files: The served files by path.
    ///   - protocols: The HTTP versions that caddy supports.
    ///   - site: Returns the configuration lines of the only site for a folder.
    init(
      files: [String: Data] = [:], protocols: String = "h1 h2", site: (String) -> String
    ) async throws {
      let pair = try Certificates.shared().server
      let own = ["server.pem": pair.certificate, "server.key": pair.key]
      server = try await LocalServer("caddy", files: own.merging(files) { $1 }) { port, folder in
        """
        {
          admin off
          auto_https off
          servers {
            protocols \(protocols)
          }
        }
        https://127.0.0.1:\(port) {
          bind 127.0.0.1
          tls \(folder)/server.pem \(folder)/server.key
          \(site(folder))
        }
        """
      } arguments: {
        ["run", "--config", "\($0)/configuration", "--adapter", "caddyfile"]
      }
      url = try server.url("https")
    }
  }
#endif
