#if os(Linux)
  import Glibc

  /// The data in the kernel's socket buffers for connections to a local port, with both ends in this process.
  struct SocketQueues {
    /// The number of bytes that the server has sent and the client's end has not acknowledged.
    var unsent = 0
    /// The number of bytes that the client's end has received but not read.
    var unread = 0

    init(port: Int) {
      for descriptor in Int32(0)..<4096 {
        if Self.port(of: descriptor, getsockname) == port {
          unsent += Self.count(descriptor, 0x5411)  // SIOCOUTQ
        } else if Self.port(of: descriptor, getpeername) == port {
          unread += Self.count(descriptor, 0x541B)  // FIONREAD
        }
      }
    }

    private typealias Naming = (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32

    private static func port(of descriptor: Int32, _ name: Naming) -> Int? {
      var address = sockaddr_in()
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let result = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name(descriptor, $0, &length) }
      }
      return result == 0 && address.sin_family == AF_INET ? Int(UInt16(bigEndian: address.sin_port)) : nil
    }

    private static func count(_ descriptor: Int32, _ request: UInt) -> Int {
      var count: Int32 = 0
      return ioctl(descriptor, request, &count) == 0 ? max(0, Int(count)) : 0
    }
  }
#endif
