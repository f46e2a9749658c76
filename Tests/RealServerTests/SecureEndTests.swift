#if os(Linux)
  import Errand
  import Foundation
  import Testing

  /// Responses over TLS connections that end with or without a close alert (RFC 9112 §9.8).
  @Suite(.enabled(if: SecurePeer.isExpected, "openssl or python3 is not installed"), .timeLimit(.minutes(3)))
  struct SecureEndTests {
    private let peer: SecurePeer

    init() async throws { peer = try await SecurePeer(Self.script) }

    @Test(arguments: ["alert/open", "alert/length", "alert/chunked", "none/length", "none/chunked", "alert/empty"])
    func `a response is complete if it states its length or ends with a close alert`(path: String) async throws {
      #expect(try await peer.get(path) == (path.hasSuffix("empty") ? "" : "hello"))
    }

    @Test(.hidesTLS, arguments: ["none/open", "none/empty"])
    func `a response with neither a length nor a close alert is truncated`(path: String) async throws {
      let error = await #expect(throws: TaskError.self) { try await peer.get(path) }
      // Newer libcurl versions report the message of the TLS library.
      #expect(error?.code == .truncatedBody, "\(error.map { "\($0)" } ?? "")")
    }

    private static let script = #"""
      BODIES = {
          "open": b"\r\nhello", "empty": b"\r\n", "length": b"Content-Length: 5\r\n\r\nhello",
          "chunked": b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"}


      def serve(secure, path, rest):
          end, body = path.strip("/").split("/")
          secure.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n" + BODIES[body])
          if end == "alert":
              secure.unwrap()
          else:
              secure.shutdown(socket.SHUT_WR)  # Python sends no alert for it
              secure.recv(1)
      """#
  }
#endif
