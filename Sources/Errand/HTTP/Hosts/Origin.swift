public import ErrandFoundation

/// Scheme, host and port: the owner of a connection, and the bounds of credentials (RFC 6454 §4).
///
/// The host is in one form, however the URL writes it, and connected to, pinned and compared in that form: escapes
/// decoded, in lower case, without a trailing dot, names of other scripts as they are looked up (UTS 46: `xn--bcher-kva`
/// for `bücher`), addresses as the system writes them. A host without such a form has
/// no origin: one with a blank or a slash behind an escape, or one that ends in a number and is no IPv4 address.
public struct Origin: Hashable, Sendable, CustomStringConvertible {
  /// `https://example.com:443`: lower case, the port always written.
  public let description: String
  /// True when requests to it are encrypted.
  public let isSecure: Bool
  /// The port, also where the URL left it out.
  public let port: Int
  /// True when the host is this machine: `localhost`, `*.localhost` (RFC 6761 §6.3), 127.0.0.0/8 or `[::1]`.
  public let isLoopback: Bool

  /// The origin of an absolute http or https URL; nil for any other.
  public init?(_ url: URL) {
    guard case .success(let origin) = Self.reading(url) else { return nil }
    self = origin
  }

  /// The origin of a URL, or why it has none.
  package static func reading(_ url: URL) -> Result<Origin, HostName.Refusal> {
    // Read from the URL's text, once for every request: Foundation's accessors cost several microseconds.
    var text = url.absoluteString
    return text.withUTF8 { read($0) }
  }

  /// `http` or `https`.
  public var scheme: String { isSecure ? "https" : "http" }

  /// The host in its one form, an IPv6 address in its brackets.
  public var host: String { String(description.utf8[hostRange]) ?? "" }

  private var hostRange: Range<String.Index> {
    let bytes = description.utf8
    let start = bytes.index(bytes.startIndex, offsetBy: isSecure ? 8 : 7)
    return start..<(bytes.lastIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex)
  }

  /// The text of a URL of this origin, the host in its one form.
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

  /// True when a text begins with this scheme and host, as almost all do: in lower case, without a user.
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

  /// Two origins are the same when scheme, host and port are.
  public static func == (left: Origin, right: Origin) -> Bool { left.description == right.description }

  /// Hashes scheme, host and port.
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

  /// Nil where the host is not one of letters, digits, dashes and dots that needs no more than lower case.
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
