#if os(Linux)
  import Errand
  import Foundation

  /// A server that handles each HTTP/2 stream according to its path, written in Python with the package `h2`.
  final class HTTP2Peer: Sendable {
    let url: URL
    private let server: LocalServer

    static let isExpected =
      (interpreter != nil || ProcessInfo.processInfo.environment["CI"] == "true") && Certificates.isExpected

    /// A Python interpreter that has the package.
    private static let interpreter: String? = LocalServer.paths(of: "python3").first {
      Shell.runAndBlock("'\($0)' -c 'import h2' 2> /dev/null") == 0
    }

    /// - Parameters:
    ///   - isSecure: Whether the peer uses TLS.
    ///   - beginsWithHTTP1: Whether the peer uses HTTP/1.1 on its first connection and for clients without HTTP/2.
    init(isSecure: Bool = true, beginsWithHTTP1: Bool = false) async throws {
      guard let interpreter = Self.interpreter else {
        throw LocalServer.Failure(reason: "python3 with the package h2 is not installed")
      }
      let pair = try Certificates.shared().server
      let files = ["server.pem": pair.certificate, "server.key": pair.key]
      server = try await LocalServer(interpreter, files: files) {
        Self.script.replacingOccurrences(of: "PORT", with: "\($0)").replacingOccurrences(of: "FOLDER", with: $1)
          .replacingOccurrences(of: "SECURE", with: isSecure ? "True" : "False")
          .replacingOccurrences(of: "BEGINS_WITH_HTTP1", with: beginsWithHTTP1 ? "True" : "False")
      } arguments: {
        ["\($0)/configuration"]
      }
      url = try server.url(isSecure ? "https" : "http")
    }

    /// Returns a transport that trusts the peer.
    func transport(connectionsPerOrigin: Int = 0) throws -> CurlTransport {
      var configuration = CurlTransport.Configuration()
      if url.scheme == "http" { configuration.version = .http2PriorKnowledge }
      configuration.connectionsPerOrigin = connectionsPerOrigin
      configuration.tls.authorities = .pem(try Certificates.shared().authority)
      return try CurlTransport(configuration)
    }

    /// Returns the requests that the server has read. "POST /hold 3" is a POST to /hold on stream 3.
    func seen() async throws -> [String] {
      let request = HTTPRequest(.get, url.appendingPathComponent("seen"))
      let body = try await transport().send(request).body.collect()
      return String(decoding: body, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Returns other actions of the client: "RESET 3" resets stream 3, and "PONG" answers a PING.
    func noted() async throws -> [String] {
      let request = HTTPRequest(.get, url.appendingPathComponent("noted"))
      let body = try await transport().send(request).body.collect()
      return String(decoding: body, as: UTF8.self).split(separator: "\n").map(String.init)
    }
  }
#endif
