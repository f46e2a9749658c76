#if os(Linux)
  import Errand
  import Foundation
  import Testing

  /// Unsolicited responses over TLS that arrive with another response. No socket event reports data that the TLS
  /// library has buffered.
  @Suite(.enabled(if: SecurePeer.isExpected, "openssl or python3 is not installed"), .timeLimit(.minutes(3)))
  struct UnaskedAnswerTests {
    private let peer: SecurePeer

    init() async throws { peer = try await SecurePeer(Self.script) }

    @Test(arguments: ["apart", "together", "behind"])
    func `ignores unsolicited responses, regardless of how responses are split into TLS records`(records: String)
      async throws
    {
      for number in 0..<20 {
        #expect(try await peer.get("\(records)/\(number)") == "/\(records)/\(number)")
      }
    }

    private static let script = #"""
      EVIL = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"


      def serve(secure, path, rest):
          while path:
              text = path.encode()
              start = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(text)
              # Each piece is one TLS record.
              if path.startswith("/apart"):
                  pieces = [start, text + EVIL]
              elif path.startswith("/together"):
                  pieces = [start + text + EVIL]
              else:
                  pieces = [start, text, EVIL]
              # Send the pieces together, because later bytes would be the response to the client's next request.
              secure.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
              for piece in pieces:
                  secure.sendall(piece)
              secure.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)
              path, rest = read_head(secure, rest)
      """#
  }
#endif
