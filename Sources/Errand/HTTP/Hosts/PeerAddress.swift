import ErrandFoundation

/// The address that a connection is made to, as an ``AddressPolicy`` sees it.
///
/// It is the address itself, after names were looked up and odd forms were read: `0x7f.1` is 127.0.0.1 here.
public struct PeerAddress: Sendable, Hashable, CustomStringConvertible {
  /// The address in network order: four bytes of IPv4, sixteen of IPv6; none of a Unix socket.
  public let bytes: [UInt8]
  /// The port; 0 of a Unix socket.
  public let port: Int
  /// The path of a Unix socket; nil for all others.
  public let socketPath: String?

  /// An IPv4 or IPv6 address by its text, such as `10.0.0.1` or `fd00::1`, with or without brackets; nil where it is none.
  public init?(_ text: String, port: Int = 0) {
    let text = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
    // The zone of a link-local address (RFC 6874) is no part of it.
    let address = String(text.prefix { $0 != "%" })
    guard let bytes = Self.bytes(address, AF_INET, 4) ?? Self.bytes(address, AF_INET6, 16) else { return nil }
    self.init(bytes: bytes, port: port)
  }

  /// A Unix socket by its path.
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

  /// The address of a socket; nil for a family that is not known.
  init?(_ address: UnsafeRawPointer, size: Int) {
    guard size >= MemoryLayout<sockaddr>.size else { return nil }
    let bytes = UnsafeRawBufferPointer(start: address, count: size)
    // Family, port and address have the same places in both families but for IPv6's flow.
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

  /// True for an address of the public network: none of those that are set apart for a special purpose (RFC 6890), and no Unix
  /// socket.
  public var isPublic: Bool { specialPurpose == nil }

  /// The purpose for which the address is set apart, in words; nil for a public one.
  public var specialPurpose: String? { socketPath == nil ? SpecialAddresses.purpose(of: bytes) : "a Unix socket" }

  /// The address without its port, in the system's form.
  public var description: String {
    if let socketPath { return socketPath }
    let family = bytes.count == 4 ? AF_INET : AF_INET6
    let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
      inet_ntop(family, bytes, buffer.baseAddress, socklen_t(buffer.count)).map { String(cString: $0) }
    }
    return text ?? ""
  }
}
