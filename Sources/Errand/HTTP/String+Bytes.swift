import ErrandFoundation

/// Byte-level string operations. They are faster than iterating over views. They also compare exactly, while `==`
/// treats canonically equivalent strings as equal.
extension String {
  /// Decodes ISO 8859-1, in which every byte is a character.
  init(latin1 bytes: some Sequence<UInt8>) { self.init(UnicodeScalarView(bytes.map { Unicode.Scalar($0) })) }

  /// The text for use in an error message. Strings longer than 200 bytes are truncated to 200 characters, followed by
  /// the size in bytes.
  package var shortened: String { utf8.count <= 200 ? self : "\(prefix(200))… (\(utf8.count) bytes)" }

  /// Like `withUTF8`, but doesn't need a mutable string.
  @inline(__always)
  func withBytes(_ use: (UnsafeBufferPointer<UInt8>) -> Void) {
    if utf8.withContiguousStorageIfAvailable(use) != nil { return }
    Array(utf8).withUnsafeBufferPointer(use)  // bridged Foundation strings on Apple platforms
  }

  /// Returns the UTF-8 bytes, percent-encoded except for ASCII letters, digits and the ASCII characters in `marks`. If
  /// `blank` is set, spaces are replaced with it.
  package func percentEncodedBytes(except marks: String, blank: UInt8? = nil) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(utf8.count)
    for byte in utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        bytes.append(byte)
      case UInt8(ascii: " ") where blank != nil: bytes.append(blank ?? byte)
      case _ where marks.utf8.contains(byte): bytes.append(byte)
      default: bytes.append(contentsOf: byte.percentEncoded)
      }
    }
    return bytes
  }

  @inline(__always)
  package func hasOnlyBytes(where allowed: (UInt8) -> Bool) -> Bool {
    utf8.withContiguousStorageIfAvailable { $0.allSatisfy(allowed) } ?? utf8.allSatisfy(allowed)
  }

  /// Whether the text has no control characters, which could start a line or end a field.
  var hasNoControls: Bool { hasOnlyBytes { $0 >= 0x20 && $0 != 0x7F } }

  /// The text as a quoted string, with quotation marks and backslashes escaped (RFC 9110 §5.6.4).
  var quoted: String {
    let bytes = utf8.flatMap { byte in
      byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? [UInt8(ascii: "\\"), byte] : [byte]
    }
    return "\"\(String(decoding: bytes, as: UTF8.self))\""
  }

  /// Whether the text contains U+FFFD, which replaces invalid UTF-8.
  var hasReplacements: Bool { !hasOnlyBytes { $0 < 0x80 } && unicodeScalars.contains("\u{FFFD}") }

  @inline(__always)
  func hasSameBytes(as other: String, by areSame: (UInt8, UInt8) -> Bool = { $0 == $1 }) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    let answer = utf8.withContiguousStorageIfAvailable { mine in
      other.utf8.withContiguousStorageIfAvailable { theirs in zip(mine, theirs).allSatisfy(areSame) }
    }
    return (answer ?? nil) ?? zip(utf8, other.utf8).allSatisfy(areSame)
  }
}

extension StringProtocol {
  /// The text with percent-encoding removed. `nil` if an escape is malformed or the result isn't valid UTF-8.
  package var percentDecoded: String? { percentDecodedBytes.flatMap { String(bytes: $0, encoding: .utf8) } }

  /// The text with percent-encoding removed. Malformed escapes are kept, and invalid UTF-8 is replaced.
  package var percentDecodedAsFarAsPossible: String {
    guard utf8.contains(UInt8(ascii: "%")) else { return String(self) }
    var bytes = Array(utf8)[...]
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    while let byte = bytes.popFirst() {
      if byte == UInt8(ascii: "%"), bytes.count >= 2, let high = bytes[bytes.startIndex].hexadecimalDigit,
        let low = bytes[bytes.startIndex + 1].hexadecimalDigit
      {
        decoded.append(high << 4 | low)
        bytes = bytes.dropFirst(2)
      } else {
        decoded.append(byte)
      }
    }
    return String(decoding: decoded, as: UTF8.self)
  }

  /// The bytes of the text with percent-encoding removed. `nil` if an escape is malformed.
  var percentDecodedBytes: [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(utf8.count)
    var rest = utf8.makeIterator()
    while let byte = rest.next() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard let high = rest.next()?.hexadecimalDigit, let low = rest.next()?.hexadecimalDigit else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }
}

extension UInt8 {
  /// The byte as a percent sign and two hexadecimal digits (RFC 3986 §2.1).
  package var percentEncoded: [UInt8] {
    func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10 }
    return [UInt8(ascii: "%"), digit(self >> 4), digit(self & 15)]
  }
}

extension Substring {
  /// Percent-encodes all bytes that aren't allowed in a URI component: bytes that are neither reserved nor unreserved
  /// (RFC 3986 §2.2 and §2.3), and `#`, `[` and `]`. Existing escapes and `others` are kept.
  func escapedForURI(except others: String = "") -> String {
    guard !utf8.allSatisfy(Self.needsNoEscape) else { return String(self) }
    let bytes = Array(utf8)
    var result = ""
    for (index, byte) in bytes.enumerated() {
      let isEscape =
        byte == UInt8(ascii: "%") && index + 2 < bytes.count && bytes[index + 1].hexadecimalDigit != nil
        && bytes[index + 2].hexadecimalDigit != nil
      if isEscape || Self.needsNoEscape(byte) || others.utf8.contains(byte) {
        result.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        result += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
    return result
  }

  // RFC 3986 §3.3 and §3.4: pchar, "/" and "?".
  private static func needsNoEscape(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "-._~!$&'()*+,;=:@/?".utf8.contains(byte)
    }
  }
}
