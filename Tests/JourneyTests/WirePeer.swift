#if os(Linux)
  import Errand
  import Foundation
  import Glibc

  /// A server that runs a script on each connection. The script controls every byte, including the HTTP.
  final class WirePeer: Sendable {
    /// The script's view of a connection. Every operation blocks for at most twenty seconds.
    struct Connection: Sendable {
      let descriptor: Int32

      /// Returns the next request, with its body if it has a `Content-Length`, or `nil` at the end.
      func readRequest() -> String? {
        guard let head = readHead() else { return nil }
        let field = head.components(separatedBy: "\r\n").first { $0.lowercased().hasPrefix("content-length:") }
        guard let length = field.flatMap({ Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }), length > 0
        else { return head }
        return read(length).map { head + $0 }
      }

      /// Returns only the head of the next request.
      func readHead() -> String? {
        var bytes: [UInt8] = []
        while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) {
          var byte: UInt8 = 0
          guard recv(descriptor, &byte, 1, 0) == 1 else { return nil }
          bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
      }

      func read(_ count: Int) -> String? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
          let got = bytes[filled...].withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
          guard got > 0 else { return nil }
          filled += got
        }
        return String(decoding: bytes, as: UTF8.self)
      }

      /// Writes text. Returns `false` if the client has disconnected.
      @discardableResult func say(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        var sent = 0
        while sent < bytes.count {
          let count = bytes[sent...].withUnsafeBytes {
            send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
          }
          guard count > 0 else { return false }
          sent += count
        }
        return true
      }

      /// Sends a 200 response with this body.
      func answer(_ body: String) { say("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)") }

      /// Waits until the client closes the connection, without reading.
      func waitForHangUp() {
        // The value of POLLRDHUP, which the Glibc module does not declare.
        var interest = pollfd(fd: descriptor, events: 0x2000, revents: 0)
        _ = poll(&interest, 1, 20_000)
      }

      /// Reads and discards data until the client closes the connection.
      func waitForEnd() {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        while recv(descriptor, &bytes, bytes.count, 0) > 0 {}
      }
    }

    let port: UInt16
    private let listener: Int32

    /// The path of the Unix socket, which is removed with the peer, or `nil` for TCP.
    let socketPath: String?

    /// - Parameter serve: Called on its own thread for each connection, with the number of earlier connections. The
    ///   connection closes when `serve` returns.
    init(socketPath: String? = nil, _ serve: @escaping @Sendable (Connection, Int) -> Void) throws {
      self.socketPath = socketPath
      let family = socketPath == nil ? AF_INET : AF_UNIX
      listener = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      let bound = socketPath.map { [listener] in Self.bind(listener, to: $0) } ?? Self.bindToLoopback(listener)
      guard let bound, listen(listener, 512) == 0 else { throw POSIXError(.EADDRNOTAVAIL) }
      port = bound
      Thread.detachNewThread { [listener] in Self.accept(listener, serve) }
    }

    private static func bindToLoopback(_ descriptor: Int32) -> UInt16? {
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isBound = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          Glibc.bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
        }
      }
      return isBound ? UInt16(bigEndian: address.sin_port) : nil
    }

    private static func bind(_ descriptor: Int32, to path: String) -> UInt16? {
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
      let size = socklen_t(MemoryLayout<sockaddr_un>.size)
      let isBound = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.bind(descriptor, $0, size) == 0 }
      }
      return isBound ? 80 : nil
    }

    deinit {
      shutdown(listener, Int32(SHUT_RDWR))  // ends `accept`
      if let socketPath { unlink(socketPath) }
    }

    private static func accept(_ listener: Int32, _ serve: @escaping @Sendable (Connection, Int) -> Void) {
      // Close it here: if the descriptor were reused before the next `accept`, this script would serve another peer.
      defer { close(listener) }
      var number = 0
      while true {
        let descriptor = Glibc.accept(listener, nil, nil)
        guard descriptor >= 0 else { return }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let index = number
        number += 1
        Thread.detachNewThread {
          serve(Connection(descriptor: descriptor), index)
          close(descriptor)
        }
      }
    }

    func url(_ path: String = "") -> URL {
      URL(string: "http://127.0.0.1:\(port)/\(path)") ?? URL(fileURLWithPath: path)
    }

    /// Creates a peer that answers the first request on each connection with these bytes and closes the connection.
    static func saying(_ text: String) throws -> WirePeer {
      try WirePeer { connection, _ in
        guard connection.readRequest() != nil else { return }
        connection.say(text)
      }
    }
  }
#endif
