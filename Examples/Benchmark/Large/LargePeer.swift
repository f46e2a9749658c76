import Errand
import ErrandFoundation

/// The peer of ``LargeScenario`` in its own process. It counts the bytes it receives, and sends the number of zeros
/// given in the path. It supports only the subset of HTTP that the scenario uses.
struct LargePeerScenario: Scenario {
  let isEmbedded = true

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    #if canImport(Glibc)
      let kind = Int32(SOCK_STREAM.rawValue)
    #else
      let kind = SOCK_STREAM
    #endif
    let listener = socket(AF_INET, kind, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listens = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 4) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    guard listens else { throw BenchError("can't create a socket: \(String(cString: strerror(errno)))") }
    LogOutput.standardOutput.write("http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))")
    signal(SIGPIPE, SIG_IGN)  // a broken pipe only ends the connection
    // Serve one connection after another, until standard input ends.
    while Self.isReady(listener) {
      let connection = LargeConnection(descriptor: accept(listener, nil, nil))
      connection.serve()
      close(connection.descriptor)
    }
    return Served()
  }

  /// Whether a client is connecting. `false` when standard input has ended.
  private static func isReady(_ listener: Int32) -> Bool {
    var waits = [
      pollfd(fd: listener, events: Int16(POLLIN), revents: 0), pollfd(fd: 0, events: Int16(POLLIN), revents: 0),
    ]
    while poll(&waits, 2, -1) < 0, errno == EINTR {}
    return waits[1].revents == 0
  }

  private struct Served: BenchReport {
    let description = #"{"client":"errand","scenario":"large-peer"}"#
  }
}

/// A connection of the peer.
private struct LargeConnection {
  let descriptor: Int32

  /// Responds to a single request, because a client may continue on another connection while it keeps this one open.
  func serve() {
    var rest: [UInt8] = []
    guard let head = readHead(&rest) else { return }
    let words = head.split(separator: " ")
    if words.first == "POST" {
      say("\(swallow(length(of: head), after: rest.count))")
    } else {
      give(words.count > 1 ? Int(words[1].dropFirst()) ?? 0 : 0)
    }
  }

  /// Reads the request's head. Bytes after the head are stored in `rest`.
  private func readHead(_ rest: inout [UInt8]) -> String? {
    var bytes: [UInt8] = []
    while true {
      if let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) {
        rest = Array(bytes[end.upperBound...])
        return String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
      }
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return nil }
      bytes += buffer[..<count]
    }
  }

  private func length(of head: String) -> Int {
    let line = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
    return line.flatMap { Int($0.dropFirst(16)) } ?? 0
  }

  /// Reads a body to its end and returns its size.
  private func swallow(_ length: Int, after count: Int) -> Int {
    var total = count
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while total < length {
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { break }
      total += count
    }
    return total
  }

  private func give(_ length: Int) {
    send(Array("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: \(length)\r\n\r\n".utf8))
    let zeros = [UInt8](repeating: 0, count: 1 << 20)
    var left = length
    while left > 0, send(zeros.prefix(left)) { left -= min(left, zeros.count) }
  }

  private func say(_ text: String) {
    let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\n"
    send(Array("\(head)Content-Length: \(text.utf8.count)\r\n\r\n\(text)".utf8))
  }

  @discardableResult private func send(_ bytes: some Collection<UInt8>) -> Bool {
    let bytes = Array(bytes)
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }
}
