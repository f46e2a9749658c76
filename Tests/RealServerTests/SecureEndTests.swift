#if os(Linux)
  import Errand
  import Foundation
  import Testing

  /// Answers over TLS whose connection ends with the alert that closes it, or without (RFC 9112 §9.8).
  @Suite(
    .enabled(if: Certificates.isExpected && LocalServer.isExpected("python3"), "openssl or python3 is not installed"),
    .timeLimit(.minutes(10)))
  struct SecureEndTests {
    private let server: LocalServer

    init() async throws {
      let pair = try Certificates.shared().server
      let files = ["server.pem": pair.certificate, "server.key": pair.key]
      server = try await LocalServer("python3", files: files) {
        Self.script.replacingOccurrences(of: "PORT", with: "\($0)").replacingOccurrences(of: "FOLDER", with: $1)
      } arguments: {
        ["\($0)/configuration"]
      }
    }

    private func get(_ path: String) async throws -> String {
      var configuration = CurlTransport.Configuration()
      configuration.tls.authorities = .pem(try Certificates.shared().authority)
      let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/\(path)"))
      let body = try await CurlTransport(configuration).send(HTTPRequest(.get, url)).body
      return String(decoding: try await body.collect(), as: UTF8.self)
    }

    @Test(arguments: ["alert/open", "alert/length", "alert/chunked", "none/length", "none/chunked", "alert/empty"])
    func `is whole where its end is stated, or told by the alert`(path: String) async throws {
      #expect(try await get(path) == (path.hasSuffix("empty") ? "" : "hello"))
    }

    @Test(arguments: ["none/open", "none/empty"])
    func `is cut where neither is there`(path: String) async throws {
      let error = await #expect(throws: TaskError.self) { try await get(path) }
      #expect(error?.code == .truncatedBody, "\(error.map { "\($0)" } ?? "")")
      #expect(error?.reason.contains("alert") ?? false)
    }

    private static let script = #"""
      import socket, ssl, threading

      BODIES = {
          "open": b"\r\nhello", "empty": b"\r\n", "length": b"Content-Length: 5\r\n\r\nhello",
          "chunked": b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"}


      def serve(sock):
          try:
              secure = context.wrap_socket(sock, server_side=True)
              head = b""
              while b"\r\n\r\n" not in head:
                  piece = secure.recv(4096)
                  if not piece:
                      return
                  head += piece
              end, body = head.split()[1].decode().strip("/").split("/")
              secure.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n" + BODIES[body])
              if end == "alert":
                  secure.unwrap()
              else:
                  secure.shutdown(socket.SHUT_WR)  # Python sends no alert for it
                  secure.recv(1)
          except OSError:
              pass


      context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
      context.load_cert_chain("FOLDER/server.pem", "FOLDER/server.key")
      listener = socket.create_server(("127.0.0.1", PORT))
      while True:
          connection, _ = listener.accept()
          threading.Thread(target=serve, args=(connection,), daemon=True).start()
      """#
  }
#endif
