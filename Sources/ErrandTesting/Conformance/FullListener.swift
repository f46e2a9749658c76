package import ErrandFoundation

/// A port on 127.0.0.1 that neither accepts nor refuses connections, because its backlog is full.
package struct FullListener {
  package let url: URL
  private let descriptors: [Int32]

  package init() throws {
    let listener = socket(AF_INET, MockPlatform.stream, 0)
    guard listener >= 0 else { throw MockServerError.system("socket") }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let isListening = Self.with(&address) { bytes, length in
      bind(listener, bytes, length.pointee) == 0 && MockPlatform.listen(listener, backlog: 0) == 0
        && getsockname(listener, bytes, length) == 0
    }
    let port = UInt16(bigEndian: address.sin_port)
    guard isListening, let url = URL(string: "http://127.0.0.1:\(port)/") else {
      throw MockServerError.system("listen")
    }
    self.url = url
    // Linux queues one connection more than the backlog, and Darwin 50% more. Eight non-blocking connections are
    // enough.
    let fillers = (0..<8).map { _ in
      let filler = socket(AF_INET, MockPlatform.stream, 0)
      _ = fcntl(filler, F_SETFL, O_NONBLOCK)
      _ = Self.with(&address) { bytes, length in connect(filler, bytes, length.pointee) == 0 }
      return filler
    }
    descriptors = [listener] + fillers
  }

  package func close() { for descriptor in descriptors { MockSocket(descriptor: descriptor).release() } }

  private static func with(
    _ address: inout sockaddr_in,
    _ body: (UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>) -> Bool
  ) -> Bool {
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafeMutableBytes(of: &address) { bytes in
      body(bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, &length)
    }
  }
}
