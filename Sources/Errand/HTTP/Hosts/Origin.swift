public import ErrandFoundation

/// A scheme, host and port: the scope of connections and credentials (RFC 6454 §4).
///
/// The host is normalized, and connections, pinning and comparisons use the normalized form: unescaped, in lower case
/// and without a trailing dot. International names are in ASCII form (UTS 46: `xn--bcher-kva` for `bücher`), and
/// addresses are in the system's notation. A URL whose host can't be normalized has no origin. Examples are a host with
/// an escaped space or slash, and a host that ends in a number but isn't an IPv4 address.
public struct Origin: Hashable, Sendable, CustomStringConvertible {
  /// The origin in lower case with its port, such as `https://example.com:443`.
  public let description: String
  /// Whether requests to the origin are encrypted.
  public let isSecure: Bool
  /// The port, or the scheme's default port if the URL has none.
  public let port: Int
  /// Whether the host is this machine: `localhost`, `*.localhost` (RFC 6761 §6.3), 127.0.0.0/8 or `[::1]`.
  public let isLoopback: Bool

  /// Creates the origin of an absolute http or https URL. Returns `nil` for any other URL.
  public init?(_ url: URL) {
    guard case .success(let origin) = Self.reading(url) else { return nil }
    self = origin
  }

  package static func reading(_ url: URL) -> Result<Origin, HostName.Refusal> {
    // Parse the text, because this runs for every request and Foundation's accessors take several microseconds.
    var text = url.absoluteString
    return text.withUTF8 { read($0) }
  }

  /// `http` or `https`.
  public var scheme: String { isSecure ? "https" : "http" }

  /// The normalized host. IPv6 addresses are in brackets.
  public var host: String { String(description.utf8[hostRange]) ?? "" }

  private var hostRange: Range<String.Index> {
    let bytes = description.utf8
    let start = bytes.index(bytes.startIndex, offsetBy: isSecure ? 8 : 7)
    return start..<(bytes.lastIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex)
  }

  /// Returns the text of a URL with this origin, with its host normalized.
  package func address(of url: URL) -> String {
    let text = url.absoluteString
    if isWrittenSo(text) { return text }
    let authority = text.utf8.dropFirst(isSecure ? 8 : 7).prefix { $0 == UInt8(ascii: ":") || !Self.endsHost($0) }
    let user = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[...$0] } ?? authority.prefix(0)
    let hostAndPort = authority[user.endIndex...]
    let port = hostAndPort[(hostAndPort.lastIndex(of: UInt8(ascii: "]")) ?? user.endIndex)...]
    let rest = port.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
    return "\(scheme)://\(Substring(user))\(host)\(text[rest...])"
  }

  /// Whether a URL already starts with the normalized scheme and host and has no user name, as almost all URLs do.
  private func isWrittenSo(_ text: String) -> Bool {
    let answer = text.utf8.withContiguousStorageIfAvailable { text in
      description.utf8.withContiguousStorageIfAvailable { normal in
        var end = normal.count - 1
        while normal[end] != UInt8(ascii: ":") { end -= 1 }
        guard text.count >= end, text.count == end || Self.endsHost(text[end]) else { return false }
        return UnsafeBufferPointer(rebasing: text[..<end]).elementsEqual(UnsafeBufferPointer(rebasing: normal[..<end]))
      }
    }
    return (answer ?? nil) ?? false
  }

  private static func endsHost(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "/") || byte == UInt8(ascii: ":") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
  }

  /// Whether two origins have the same scheme, host and port.
  public static func == (left: Origin, right: Origin) -> Bool { left.description == right.description }

  /// Hashes the scheme, the host and the port.
  public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

extension Origin {
  private typealias Bytes = UnsafeBufferPointer<UInt8>

  // RFC 3986 §3: scheme "://" [userinfo "@"] host [":" port], up to the first slash, question mark or hash.
  private static func read(_ text: Bytes) -> Result<Origin, HostName.Refusal> {
    let isSecure: Bool
    if hasPrefix(text, "https://") {
      isSecure = true
    } else if hasPrefix(text, "http://") {
      isSecure = false
    } else {
      return .failure(.notHTTP)
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
        guard let number = number(digits) else { return .failure(.port) }
        port = number
      }
      authority = authority[..<colon]
    }
    if let origin = Origin(plain: Bytes(rebasing: authority), isSecure: isSecure, port: port) {
      return .success(origin)
    }
    do {
      return .success(Origin(try HostName(Array(authority)), isSecure: isSecure, port: port))
    } catch {
      return .failure(error)
    }
  }

  private init(_ host: HostName, isSecure: Bool, port: Int) {
    description = "\(isSecure ? "https://" : "http://")\(host.text):\(port)"
    self.isSecure = isSecure
    self.port = port
    isLoopback = host.isLoopback
  }

  /// Creates the origin of a host that only needs lowercasing because it consists of letters, digits, dashes and dots.
  /// This is a fast path. Returns `nil` for other hosts.
  private init?(plain host: Bytes, isSecure: Bool, port: Int) {
    guard HostName.isPlain(host) else { return nil }
    let scheme: StaticString = isSecure ? "https://" : "http://"
    var isLoopback = false
    description = String(unsafeUninitializedCapacity: scheme.utf8CodeUnitCount + host.count + 6) { buffer in
      var count = buffer.update(
        fromContentsOf: UnsafeBufferPointer(start: scheme.utf8Start, count: scheme.utf8CodeUnitCount))
      let start = count
      for byte in host {
        buffer[count] = Self.lowered(byte)
        count += 1
      }
      isLoopback = HostName.isLoopback(Bytes(rebasing: buffer[start..<count]))
      buffer[count] = UInt8(ascii: ":")
      count += 1
      var divisor = port < 10 ? 1 : port < 100 ? 10 : port < 1000 ? 100 : port < 10_000 ? 1000 : 10_000
      while divisor > 0 {
        buffer[count] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: port / divisor % 10)
        count += 1
        divisor /= 10
      }
      return count
    }
    self.isSecure = isSecure
    self.port = port
    self.isLoopback = isLoopback
  }

  private static func number(_ digits: Slice<Bytes>) -> Int? {
    var number = 0
    for byte in digits {
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
      number = number * 10 + Int(byte - UInt8(ascii: "0"))
      if number > 65535 { return nil }
    }
    return number
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
}
