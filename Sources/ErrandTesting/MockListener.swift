import ErrandFoundation

/// A server's listening socket, and the pipe that wakes its thread.
struct MockListener: Sendable {
  let port: UInt16
  /// The write end of the pipe. Closing it ends ``accept()``.
  let wakeUp: Int32

  private let descriptor: Int32
  private let wakeUpReader: Int32

  init() throws {
    let descriptor = socket(AF_INET, MockPlatform.stream, 0)
    guard descriptor >= 0 else { throw MockServerError.system("socket") }
    do {
      port = try Self.listen(on: descriptor)
      (wakeUpReader, wakeUp) = try Self.makePipe()
    } catch {
      close(descriptor)
      throw error
    }
    self.descriptor = descriptor
    for number in [descriptor, wakeUpReader, wakeUp] { Self.keepFromChildren(number) }
  }

  /// Waits for the next connection. Returns `nil` after ``wakeUp`` was closed.
  func accept() -> MockSocket? {
    while true {
      guard wait(for: descriptor, timeout: -1) else { return nil }
      if let socket = acceptNow() { return socket }
      // The client disconnected, or the process is out of descriptors. In the latter case, wait to avoid a busy loop.
      if errno == EMFILE || errno == ENFILE, !wait(for: -1, timeout: 10) { return nil }
    }
  }

  /// Closes all descriptors except ``wakeUp``.
  func release() {
    close(descriptor)
    close(wakeUpReader)
  }

  /// Waits until `number` is readable or the timeout expires. Returns `false` if the thread was woken up to stop.
  private func wait(for number: Int32, timeout: Int32) -> Bool {
    var items = [
      pollfd(fd: number, events: Int16(POLLIN), revents: 0),
      pollfd(fd: wakeUpReader, events: Int16(POLLIN), revents: 0),
    ]
    while poll(&items, 2, timeout) < 0 {
      guard errno == EINTR else { return false }
    }
    return items[1].revents == 0
  }

  private func acceptNow() -> MockSocket? {
    let number = MockPlatform.accept(descriptor)
    guard number >= 0 else { return nil }
    Self.keepFromChildren(number)
    MockPlatform.silenceBrokenPipe(number)
    // The head and the body may be written separately. Nagle's algorithm would delay the second write until the first
    // is acknowledged.
    var isOn: Int32 = 1
    setsockopt(number, MockPlatform.tcp, TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
    return MockSocket(descriptor: number)
  }

  private static func listen(on descriptor: Int32) throws -> UInt16 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutableBytes(of: &address) { bytes in
      let address = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress
      return bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
    }
    guard isBound else { throw MockServerError.system("bind") }
    guard MockPlatform.listen(descriptor, backlog: 1024) == 0 else { throw MockServerError.system("listen") }
    return UInt16(bigEndian: address.sin_port)
  }

  private static func makePipe() throws -> (reader: Int32, writer: Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw MockServerError.system("pipe") }
    return (ends[0], ends[1])
  }

  private static func keepFromChildren(_ descriptor: Int32) { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
}
