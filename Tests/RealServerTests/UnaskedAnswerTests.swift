#if os(Linux)
  import Errand
  import Foundation
  import Testing

  /// Answers over TLS that come with another, which nobody asked for. No socket tells of one that lies in the TLS library.
  @Suite(
    .enabled(if: Certificates.isExpected && LocalServer.isExpected("python3"), "openssl or python3 is not installed"),
    .timeLimit(.minutes(10)))
  struct UnaskedAnswerTests {
    private let server: LocalServer
    private let transport: CurlTransport

    init() async throws {
      let certificates = try Certificates.shared()
      let files = ["server.pem": certificates.server.certificate, "server.key": certificates.server.key]
      server = try await LocalServer("python3", files: files) {
        Self.script.replacingOccurrences(of: "PORT", with: "\($0)").replacingOccurrences(of: "FOLDER", with: $1)
      } arguments: {
        ["\($0)/configuration"]
      }
      var configuration = CurlTransport.Configuration()
      configuration.tls.authorities = .pem(certificates.authority)
      transport = try CurlTransport(configuration)
    }

    private func get(_ path: String) async throws -> String {
      let url = try #require(URL(string: "https://127.0.0.1:\(server.port)/\(path)"))
      return String(decoding: try await transport.send(HTTPRequest(.get, url)).body.collect(), as: UTF8.self)
    }

    @Test(arguments: ["apart", "together", "behind"])
    func `answer nothing, whatever the records are in which they come`(records: String) async throws {
      for number in 0..<20 {
        #expect(try await get("\(records)/\(number)") == "/\(records)/\(number)")
      }
    }

    private static let script = #"""
      import socket, ssl, threading

      EVIL = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"


      def serve(sock):
          try:
              secure = context.wrap_socket(sock, server_side=True)
              while True:
                  head = b""
                  while b"\r\n\r\n" not in head:
                      piece = secure.recv(4096)
                      if not piece:
                          return
                      head += piece
                  path = head.split()[1]
                  start = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(path)
                  # Each is a record of TLS.
                  if path.startswith(b"/apart"):
                      pieces = [start, path + EVIL]
                  elif path.startswith(b"/together"):
                      pieces = [start + path + EVIL]
                  else:
                      pieces = [start, path, EVIL]
                  for piece in pieces:
                      secure.sendall(piece)
          except OSError:
              pass


      context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
      context.load_cert_chain("FOLDER/server.pem", "FOLDER/server.key")
      listener = socket.create_server(("127.0.0.1", PORT))
      while True:
          connection, _ = listener.accept()
          connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
          threading.Thread(target=serve, args=(connection,), daemon=True).start()
      """#
  }
#endif
