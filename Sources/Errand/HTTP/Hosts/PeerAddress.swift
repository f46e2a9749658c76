import ErrandFoundation

/// The address of a connection, as checked by an ``AddressPolicy``.
///
/// This is the resolved address: names are looked up, and unusual notations are normalized, so `0x7f.1` is 127.0.0.1.
public struct PeerAddress: Sendable, Hashable, CustomStringConvertible {
  /// The address in network byte order: 4 bytes for IPv4, 16 for IPv6, empty for a Unix socket.
  public let bytes: [UInt8]
  /// The port, or 0 for a Unix socket.
  public let port: Int
  /// The path of a Unix socket, or `nil` for an IP address.
  public let socketPath: String?

  /// Parses an IPv4 or IPv6 address such as `10.0.0.1` or `fd00::1`, with or without brackets. Returns `nil` if the
  /// text isn't an address.
  public init?(_ text: String, port: Int = 0) {
    let text = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
    // Drop the zone of a link-local address (RFC 6874).
    let address = String(text.prefix { $0 != "%" })
    guard let bytes = Self.bytes(address, AF_INET, 4) ?? Self.bytes(address, AF_INET6, 16) else { return nil }
    self.init(bytes: bytes, port: port)
  }

  /// Creates the address of a Unix socket.
  public init(socketPath: String) {
    bytes = []
    port = 0
    self.socketPath = socketPath
  }

  private init(bytes: [UInt8], port: Int) {
    self.bytes = bytes
    self.port = port
    socketPath = nil
  }

  init?(_ address: UnsafeRawPointer, size: Int) {
    guard size >= MemoryLayout<sockaddr>.size else { return nil }
    let bytes = UnsafeRawBufferPointer(start: address, count: size)
    // Both families share a layout, except for IPv6's flow field before the address.
    let port = Int(bytes[2]) << 8 | Int(bytes[3])
    switch Int32(address.loadUnaligned(as: sockaddr.self).sa_family) {
    case AF_INET: self.init(bytes: Array(bytes[4..<8]), port: port)
    case AF_INET6 where size >= 24: self.init(bytes: Array(bytes[8..<24]), port: port)
    case AF_UNIX: self.init(socketPath: String(decoding: bytes[2...].prefix { $0 != 0 }, as: UTF8.self))
    default: return nil
    }
  }

  private static func bytes(_ text: String, _ family: Int32, _ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    return inet_pton(family, text, &bytes) == 1 ? bytes : nil
  }

  /// Whether the address is public. Special-purpose addresses (RFC 6890) and Unix sockets are not.
  public var isPublic: Bool { specialPurpose == nil }

  /// A description of the address's special purpose, or `nil` if the address is public.
  public var specialPurpose: String? { socketPath == nil ? SpecialAddresses.purpose(of: bytes) : "a Unix socket" }

  /// The address without its port, in the system's notation.
  public var description: String {
    if let socketPath { return socketPath }
    let family = bytes.count == 4 ? AF_INET : AF_INET6
    let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
      inet_ntop(family, bytes, buffer.baseAddress, socklen_t(buffer.count)).map { String(cString: $0) }
    }
    return text ?? ""
  }
}
