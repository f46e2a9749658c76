import Errand
import ErrandFoundation
import ErrandTesting

/// A port that forwards bytes to another port and back, and can cut its connections at any time.
final class CuttingRelay: Sendable {
  let port: UInt16
  private let listener: Int32
  private let target: UInt16
  private let open = Shared<Set<Int32>>([])
  /// The number of bytes returned by the other port.
  private let passed = Shared(0)
  private let lastNumber = Shared(0)
  private let see: Seen

  /// Receives a connection's number and the client's bytes before they are forwarded.
  typealias Seen = @Sendable (Int, ArraySlice<UInt8>) -> Void

  /// Creates a relay to a local port.
  ///
  /// - Parameters:
  ///   - target: The port.
  ///   - see: Observes the clients' bytes.
  init(to target: UInt16, see: @escaping Seen = { _, _ in }) throws {
    self.target = target
    self.see = see
    (listener, port) = try LocalSocket.listening()
    let isStarted = DetachedThread.start("relay") { [weak self, listener] in
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0, let self else { return }
        self.serve(client)
      }
    }
    guard isStarted else { throw BenchError("can't create a thread for the relay") }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  var bytesPassed: Int { passed.withLock { $0 } }

  /// Cuts all connections. Returns `false` if there are none.
  func cut() -> Bool {
    open.withLock { descriptors in
      for descriptor in descriptors { shutdown(descriptor, Int32(SHUT_RDWR)) }
      return !descriptors.isEmpty
    }
  }

  private func serve(_ client: Int32) {
    guard let server = try? LocalSocket.connected(to: target) else {
      close(client)
      return
    }
    open.withLock { $0.formUnion([client, server]) }
    let number = lastNumber.withLock { number in
      number += 1
      return number
    }
    let ends = Shared(2)
    let finish: @Sendable () -> Void = { [open] in
      for descriptor in [client, server] { shutdown(descriptor, Int32(SHUT_RDWR)) }
      let isLast = ends.withLock { ends in
        ends -= 1
        return ends == 0
      }
      guard isLast else { return }
      // Remove the sockets first, because a closed descriptor may be reused immediately.
      open.withLock { $0.subtract([client, server]) }
      close(client)
      close(server)
    }
    let up = DetachedThread.start("relay up") { [see] in
      LocalSocket.copy(client, server) { see(number, $0) }
      finish()
    }
    let down = DetachedThread.start("relay down") { [passed] in
      LocalSocket.copy(server, client) { bytes in passed.withLock { $0 += bytes.count } }
      finish()
    }
    for isStarted in [up, down] where !isStarted { finish() }
  }
}

/// Local sockets.
enum LocalSocket {
  private static var stream: Int32 {
    #if canImport(Glibc)
      Int32(SOCK_STREAM.rawValue)
    #else
      SOCK_STREAM
    #endif
  }

  private static func address(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    return address
  }

  private static func with<Result>(
    _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> Result
  ) -> Result {
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &length) }
    }
  }

  /// Creates a socket that listens on a free port.
  static func listening() throws -> (Int32, UInt16) {
    let listener = socket(AF_INET, stream, 0)
    _ = fcntl(listener, F_SETFD, FD_CLOEXEC)
    var address = address(0)
    let listens = with(&address) { pointer, length in
      bind(listener, pointer, length) == 0 && listen(listener, 64) == 0 && getsockname(listener, pointer, &length) == 0
    }
    guard listens else { throw BenchError("can't create a socket: \(String(cString: strerror(errno)))") }
    return (listener, UInt16(bigEndian: address.sin_port))
  }

  static func connected(to port: UInt16) throws -> Int32 {
    let descriptor = socket(AF_INET, stream, 0)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    var address = address(port)
    guard with(&address, { connect(descriptor, $0, $1) == 0 }) else {
      close(descriptor)
      throw BenchError("nothing listens on port \(port)")
    }
    return descriptor
  }

  /// Forwards bytes until one end is closed. `see` receives the bytes first.
  static func copy(_ from: Int32, _ to: Int32, _ see: (ArraySlice<UInt8>) -> Void) {
    var buffer = [UInt8](repeating: 0, count: 256 << 10)
    while true {
      let length = read(from, &buffer, buffer.count)
      guard length > 0 else { return }
      see(buffer[..<length])
      var sent = 0
      while sent < length {
        let part = buffer[sent..<length].withUnsafeBytes { write(to, $0.baseAddress, $0.count) }
        guard part > 0 else { return }
        sent += part
      }
    }
  }
}
