public import Foundation

/// Scheme, host and port: what a connection belongs to, and within which credentials stay (RFC 6454 §4).
public struct Origin: Hashable, Sendable, CustomStringConvertible {
  /// `https://example.com:443`: lower case, the port always written.
  public let description: String
  /// Whether requests to it are encrypted.
  public let isSecure: Bool
  /// The port, also where the URL left it out.
  public let port: Int
  /// Whether the host is this machine: `localhost`, `*.localhost` (RFC 6761 §6.3), 127.0.0.0/8 or `[::1]`.
  public let isLoopback: Bool

  /// The origin of an absolute http or https URL; nil for any other.
  public init?(_ url: URL) {
    // Read from the URL's text, once for every request: Foundation's accessors cost several microseconds.
    var text = url.absoluteString
    guard let origin = text.withUTF8({ Self.read($0) }) else { return nil }
    self = origin
  }

  private init(_ host: String, isSecure: Bool, port: Int) {
    description = "\(isSecure ? "https://" : "http://")\(host):\(port)"
    self.isSecure = isSecure
    self.port = port
    isLoopback = Self.isLoopback(host)
  }

  /// `http` or `https`.
  public var scheme: String { isSecure ? "https" : "http" }

  /// The host in lower case, an IPv6 address in its brackets.
  public var host: String {
    let rest = description.utf8.dropFirst(isSecure ? 8 : 7)
    return String(rest.prefix(upTo: rest.lastIndex(of: UInt8(ascii: ":")) ?? rest.endIndex)) ?? ""
  }

  private static func isLoopback(_ host: String) -> Bool {
    if host.utf8.first == UInt8(ascii: "1") { return isLoopbackAddress(host) }
    return host == "localhost" || host == "[::1]" || host.hasSuffix(".localhost")
  }

  private static func isLoopbackAddress(_ host: String) -> Bool {
    guard host.hasPrefix("127.") else { return false }
    var dots = 0
    for byte in host.utf8 {
      if byte == UInt8(ascii: ".") {
        dots += 1
      } else if byte < UInt8(ascii: "0") || byte > UInt8(ascii: "9") {
        return false
      }
    }
    return dots == 3
  }

  // RFC 3986 §3: scheme "://" [userinfo "@"] host [":" port], up to the first slash, question mark or hash.
  private static func read(_ text: UnsafeBufferPointer<UInt8>) -> Origin? {
    let isSecure: Bool
    if hasPrefix(text, "https://") {
      isSecure = true
    } else if hasPrefix(text, "http://") {
      isSecure = false
    } else {
      return nil
    }
    var authority = text[(isSecure ? 8 : 7)...]
    if let end = authority.firstIndex(where: { $0 == slash || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) {
      authority = authority[..<end]
    }
    if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[(at + 1)...] }
    var port = isSecure ? 443 : 80
    let hostEnd = authority.lastIndex(of: UInt8(ascii: "]")) ?? authority.startIndex
    if let colon = authority[hostEnd...].lastIndex(of: UInt8(ascii: ":")) {
      let digits = authority[(colon + 1)...]
      if !digits.isEmpty {
        guard let number = Int(String(decoding: digits, as: UTF8.self)), (0...65535).contains(number) else {
          return nil
        }
        port = number
      }
      authority = authority[..<colon]
    }
    guard !authority.isEmpty else { return nil }
    let host = String(unsafeUninitializedCapacity: authority.count) { buffer in
      for (index, byte) in authority.enumerated() { buffer[index] = lowered(byte) }
      return authority.count
    }
    return Origin(host, isSecure: isSecure, port: port)
  }

  private static let slash = UInt8(ascii: "/")

  private static func hasPrefix(_ text: UnsafeBufferPointer<UInt8>, _ prefix: StaticString) -> Bool {
    prefix.withUTF8Buffer { prefix in
      text.count > prefix.count && zip(text, prefix).allSatisfy { lowered($0) == $1 }
    }
  }

  private static func lowered(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }

  /// Two origins are the same when scheme, host and port are.
  public static func == (left: Origin, right: Origin) -> Bool { left.description == right.description }

  /// Hashes scheme, host and port.
  public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}
