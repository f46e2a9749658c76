#if os(Linux)
  import Errand
  import Foundation

  /// A SOCKS5 proxy in Python (RFC 1928, with passwords as in RFC 1929) that resolves every name to 127.0.0.1.
  final class SocksProxy: Sendable {
    static let isExpected = LocalServer.isExpected("python3")
    static let credential = Credential(user: "somebody", password: "open sesame")

    private let server: LocalServer

    /// The proxy without a credential.
    var proxy: Proxy { Proxy(.socks5, host: "127.0.0.1", port: Int(server.port)) }

    /// The requested targets in order, such as `name shop.test 80`.
    var seen: [String] {
      let text = try? String(contentsOf: server.folder.appendingPathComponent("seen"), encoding: .utf8)
      return (text ?? "").split(separator: "\n").map(String.init)
    }

    init(asksForCredential: Bool = false) async throws {
      let method = asksForCredential ? 2 : 0
      server = try await LocalServer("python3") {
        Self.script.replacingOccurrences(of: "PORT", with: "\($0)").replacingOccurrences(of: "FOLDER", with: $1)
          .replacingOccurrences(of: "METHOD", with: "\(method)")
      } arguments: {
        ["\($0)/configuration"]
      }
    }

    private static let script = """
      import socket, struct, threading

      def exactly(peer, count):
          data = b""
          while len(data) < count:
              piece = peer.recv(count - len(data))
              if not piece: raise EOFError
              data += piece
          return data

      def pump(source, sink):
          try:
              while data := source.recv(65536): sink.sendall(data)
              sink.shutdown(socket.SHUT_WR)
          except OSError: pass

      def serve(peer):
          try:
              exactly(peer, exactly(peer, 2)[1])
              peer.sendall(bytes([5, METHOD]))
              if METHOD == 2:
                  user = exactly(peer, exactly(peer, 2)[1])
                  word = exactly(peer, exactly(peer, 1)[0])
                  good = (user, word) == (b"somebody", b"open sesame")
                  peer.sendall(bytes([1, 0 if good else 1]))
                  if not good: return peer.close()
              kind = exactly(peer, 4)[3]
              if kind == 3: host = "name " + exactly(peer, exactly(peer, 1)[0]).decode()
              else: host = "address " + socket.inet_ntop(socket.AF_INET if kind == 1 else socket.AF_INET6, exactly(peer, 4 if kind == 1 else 16))
              port = struct.unpack(">H", exactly(peer, 2))[0]
              with open("FOLDER/seen", "a") as file: file.write(f"{host} {port}\\n")
              target = socket.create_connection(("127.0.0.1", port))
              peer.sendall(bytes([5, 0, 0, 1, 127, 0, 0, 1, 0, 0]))
              threading.Thread(target=pump, args=(target, peer), daemon=True).start()
              pump(peer, target)
          except (EOFError, OSError): peer.close()

      listener = socket.create_server(("127.0.0.1", PORT))
      while True:
          threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
      """
  }
#endif
