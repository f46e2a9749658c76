#if os(Linux)
  import Errand
  import Foundation
  import Testing

  /// A TLS server that runs a Python script on each connection.
  final class SecurePeer: Sendable {
    /// Returns a transport that trusts the peer.
    let transport: CurlTransport
    private let server: LocalServer

    static let isExpected = Certificates.isExpected && LocalServer.isExpected("python3")

    /// - Parameter script: Defines `serve(secure, path, rest)`, which receives a connection after the head of its first
    ///   request was read, the path, and the bytes that follow the head. `read_head(secure, rest)` reads the next head
    ///   and returns no path at the end.
    init(_ script: String) async throws {
      let certificates = try Certificates.shared()
      let files = ["server.pem": certificates.server.certificate, "server.key": certificates.server.key]
      server = try await LocalServer("python3", files: files) {
        "\(script)\n\(Self.listening)".replacingOccurrences(of: "PORT", with: "\($0)")
          .replacingOccurrences(of: "FOLDER", with: $1)
      } arguments: {
        ["\($0)/configuration"]
      }
      var configuration = CurlTransport.Configuration()
      configuration.tls.authorities = .pem(certificates.authority)
      transport = try CurlTransport(configuration)
    }

    func url(_ path: String) throws -> URL { try server.url("https").appendingPathComponent(path) }

    func get(_ path: String) async throws -> String {
      let body = try await transport.send(HTTPRequest(.get, url(path))).body
      return String(decoding: try await body.collect(), as: UTF8.self)
    }

    private static let listening = #"""
      import socket, ssl, struct, threading


      def read_head(secure, rest=b""):
          while b"\r\n\r\n" not in rest:
              piece = secure.recv(4096)
              if not piece:
                  return None, rest
              rest += piece
          head, rest = rest.split(b"\r\n\r\n", 1)
          return head.split()[1].decode(), rest


      def begin(sock):
          try:
              secure = context.wrap_socket(sock, server_side=True)
              path, rest = read_head(secure)
              if path:
                  serve(secure, path, rest)
          except OSError:
              pass


      context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
      context.load_cert_chain("FOLDER/server.pem", "FOLDER/server.key")
      listener = socket.create_server(("127.0.0.1", PORT))
      while True:
          connection, _ = listener.accept()
          connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
          threading.Thread(target=begin, args=(connection,), daemon=True).start()
      """#
  }
#endif
