import ErrandTesting
import Foundation

#if canImport(Darwin)
  import Darwin
  private let streamType = SOCK_STREAM
  private let sendFlags: Int32 = 0
#elseif canImport(Musl)
  import Musl
  private let streamType = Int32(SOCK_STREAM)
  private let sendFlags = Int32(MSG_NOSIGNAL)
#else
  import Glibc
  private let streamType = Int32(SOCK_STREAM.rawValue)
  private let sendFlags = Int32(MSG_NOSIGNAL)
#endif

/// A raw connection to a mock server. Reads time out after five seconds.
final class PlainClient {
  enum Failure: Error, Equatable {
    case refused
    case reset
    case tooSlow
    case ended(Data)
  }

  private var descriptor: Int32
  private var unread = Data()

  init(_ server: MockServer) throws {
    descriptor = socket(AF_INET, streamType, 0)
    // A child process that inherited the socket would keep the connection open.
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    var patience = timeval()
    patience.tv_sec = 5
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = UInt16(server.url.port ?? 0).bigEndian
    let result = withUnsafeBytes(of: &address) { bytes in
      connect(
        descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress,
        socklen_t(MemoryLayout<sockaddr_in>.size))
    }
    guard result == 0 else { throw Failure.refused }
  }

  deinit { hangUp() }

  func hangUp() {
    if descriptor >= 0 { close(descriptor) }
    descriptor = -1
  }

  /// Sends text. Returns `false` if the server has closed the connection.
  @discardableResult func say(_ text: String) -> Bool { say(Data(text.utf8)) }

  @discardableResult func say(_ data: Data) -> Bool {
    data.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let piece = UnsafeRawBufferPointer(rebasing: rest)
        let count = send(descriptor, piece.baseAddress, piece.count, sendFlags)
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
      }
      return true
    }
  }

  /// Returns the next bytes, or `nil` at the end.
  func hearSome() throws -> Data? {
    if !unread.isEmpty {
      defer { unread = Data() }
      return unread
    }
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    if count < 0 { throw errno == ECONNRESET ? Failure.reset : Failure.tooSlow }
    return count == 0 ? nil : Data(buffer[..<count])
  }

  /// Returns everything that the server sends until the connection ends.
  func hearAll() throws -> String {
    var all = Data()
    while let some = try hearSome() { all += some }
    return String(decoding: all, as: UTF8.self)
  }

  /// Returns everything up to and including `mark`.
  func hear(through mark: String) throws -> String {
    var heard = Data()
    while let some = try hearSome() {
      heard += some
      if let range = heard.range(of: Data(mark.utf8)) {
        unread = Data(heard[range.upperBound...])
        return String(decoding: heard[..<range.upperBound], as: UTF8.self)
      }
    }
    throw Failure.ended(heard)
  }

  func hear(count: Int) throws -> Data {
    var heard = Data()
    while heard.count < count {
      guard let some = try hearSome() else { throw Failure.ended(heard) }
      heard += some
    }
    unread = Data(heard.dropFirst(count))
    return Data(heard.prefix(count))
  }

  /// Returns the head and body of a response. Without a `Content-Length`, the body is empty.
  func hearResponse() throws -> (head: String, body: String) {
    let head = try hear(through: "\r\n\r\n")
    let length = head.lowercased().components(separatedBy: "content-length: ").dropFirst().first
    let count = length.flatMap { Int($0.prefix { $0.isNumber }) } ?? 0
    return (head, String(decoding: try hear(count: count), as: UTF8.self))
  }

  /// Sends a request without a body and reads the response.
  func get(_ target: String, method: String = "GET") throws -> (head: String, body: String) {
    say("\(method) \(target) HTTP/1.1\r\nHost: mock\r\n\r\n")
    return try hearResponse()
  }
}
