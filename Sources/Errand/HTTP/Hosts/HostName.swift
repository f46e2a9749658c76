/// A normalized host, as used for connections, pinning and comparisons.
package struct HostName: Equatable, Sendable {
  /// The host in lower case, without escapes or a trailing dot. IPv6 addresses are in brackets.
  package let text: String
  package let isLoopback: Bool

  package enum Refusal: String, Error, Sendable {
    case notHTTP = "it is not an absolute http or https URL"
    case port = "its port is not a number up to 65535"
    case empty = "its host is empty or has an empty label"
    case escape = "its host contains a percent sign without two hexadecimal digits"
    case character = "its host contains whitespace, a control character or a delimiter, possibly escaped"
    case noName = "its host is not a valid internationalized domain name (UTS 46)"
    case noConverter = """
      its host has non-ASCII letters, and libidn2.so.0, which converts them, is not installed: run apt-get install \
      libidn2-0 (Debian, Ubuntu), dnf install libidn2 (Red Hat) or apk add libidn2 (Alpine), or use the ASCII form of \
      the host, with labels that start with xn--
      """
    case address = "its host ends in a number, but is not an IPv4 address"
    case bracketed = "its host is in brackets, but is not an IPv6 address"
  }

  /// Normalizes a host as written in a URL. `convert` converts international names to ASCII.
  package init(_ written: [UInt8], convert: Converter = HostName.convert) throws(Refusal) {
    if written.first == UInt8(ascii: "[") {
      guard let address = IPv6Address(written) else { throw .bracketed }
      self.init(text: address.description, isLoopback: address.isLoopback)
      return
    }
    var bytes = try Self.decoded(written)
    // Convert first: a non-ASCII full stop, digit or slash can become an ASCII one.
    if bytes.contains(where: { $0 >= 0x80 }) { bytes = try Self.ascii(bytes, by: convert) }
    if bytes.last == Self.dot { bytes.removeLast() }
    guard bytes.allSatisfy({ Self.isNameByte($0) || $0 == Self.dot || $0 == UInt8(ascii: "~") }) else {
      throw .character
    }
    let labels = bytes.split(separator: Self.dot, omittingEmptySubsequences: false)
    guard let last = labels.last, labels.allSatisfy({ !$0.isEmpty }) else { throw .empty }
    if IPv4Address.isNumber(last) {
      guard let address = IPv4Address(labels) else { throw .address }
      self.init(text: address.description, isLoopback: address.isLoopback)
    } else {
      self.init(
        text: String(decoding: bytes, as: UTF8.self), isLoopback: bytes.withUnsafeBufferPointer(Self.isLoopback))
    }
  }

  /// Parses a host from an app's settings: a name, an address, a URL, or a host with a port. Returns `nil` if the text
  /// doesn't contain a valid host.
  package static func written(_ text: Substring) -> HostName? {
    if let host = try? HostName(bracketing: text) { return host }
    var host = text.drop { $0.isWhitespace }
    if let scheme = host.firstRange(of: "://") { host = host[scheme.upperBound...] }
    host = host.prefix { !"/?#".contains($0) }
    while host.last?.isWhitespace == true { host.removeLast() }
    if let port = host.lastIndex(of: ":"),
      host[host.index(after: port)...].utf8.allSatisfy({ (0x30...0x39).contains($0) })
    {
      host = host[..<port]
    }
    return try? HostName(bracketing: host)
  }

  /// Normalizes a host. The brackets of an IPv6 address are optional.
  init(bracketing text: some StringProtocol) throws(Refusal) {
    let isBareAddress = text.utf8.count { $0 == UInt8(ascii: ":") } > 1 && text.utf8.first != UInt8(ascii: "[")
    try self.init(Array((isBareAddress ? "[\(text)]" : "\(text)").utf8))
  }

  private init(text: String, isLoopback: Bool) {
    self.text = text
    self.isLoopback = isLoopback
  }

  /// Normalizes a host from an app's settings for comparison. An invalid host is only lowercased, so it never equals a
  /// valid host.
  package static func normal(_ text: String) -> String {
    (try? HostName(bracketing: text))?.text ?? text.lowercased()
  }

  // RFC 3986 §3.2.2: percent-encoded octets are decoded once.
  private static func decoded(_ written: [UInt8]) throws(Refusal) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(written.count)
    var index = 0
    while index < written.count {
      var byte = written[index]
      index += 1
      if byte == UInt8(ascii: "%") {
        guard index + 1 < written.count, let high = written[index].hexadecimalDigit,
          let low = written[index + 1].hexadecimalDigit
        else { throw .escape }
        byte = high << 4 | low
        index += 2
      }
      bytes.append(byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte)
    }
    return bytes
  }
}

/// Fast checks for the most common hosts, without allocations.
extension HostName {
  private static let dot = UInt8(ascii: ".")

  /// Whether a host only needs lowercasing because it is a name of letters, digits, dashes and dots, or an IPv4 address
  /// in dotted-decimal notation.
  static func isPlain(_ host: UnsafeBufferPointer<UInt8>) -> Bool {
    var label = 0
    for index in 0..<host.count {
      if host[index] == dot {
        if index == label { return false }
        label = index + 1
      } else if !isNameByte(host[index]) {
        return false
      }
    }
    guard label < host.count else { return false }
    // If the last label starts with a digit, the host can also be an IPv4 address in an unusual notation.
    return !isDigit(host[label]) || isQuad(host)
  }

  private static func isQuad(_ host: UnsafeBufferPointer<UInt8>) -> Bool {
    var (dots, digits, number) = (0, 0, 0)
    for byte in host {
      if byte == dot {
        dots += 1
        (digits, number) = (0, 0)
      } else {
        guard isDigit(byte), digits == 0 || number > 0 else { return false }
        digits += 1
        number = number * 10 + Int(byte - UInt8(ascii: "0"))
        if number > 255 { return false }
      }
    }
    return dots == 3
  }

  static func isLoopback(_ host: UnsafeBufferPointer<UInt8>) -> Bool {
    if host.count > 6, host[0] == UInt8(ascii: "1"), host[1] == UInt8(ascii: "2"), host[2] == UInt8(ascii: "7"),
      isQuad(host)
    {
      return true
    }
    let name: StaticString = "localhost"
    let count = name.utf8CodeUnitCount
    guard host.count >= count, host.last == UInt8(ascii: "t") else { return false }
    let start = host.count - count
    return (start == 0 || host[start - 1] == dot) && name.withUTF8Buffer { $0.elementsEqual(host[start...]) }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}

extension UInt8 {
  package var hexadecimalDigit: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
