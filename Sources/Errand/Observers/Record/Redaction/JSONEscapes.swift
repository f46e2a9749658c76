/// Adds and removes the escapes in JSON strings (RFC 8259 §7). Also works on text that is not quite valid JSON.
enum JSONEscapes {
  /// Whether a `\u` escape of an ASCII character begins at `start`. Other characters are never delimiters.
  static func isSign(_ bytes: [UInt8], at start: Int) -> Bool {
    guard start < bytes.count, bytes[start] == UInt8(ascii: "u"), let unit = unit(of: bytes[(start + 1)...]) else {
      return false
    }
    return unit < 0x80
  }

  /// Returns the text without escapes. An invalid escape is kept unchanged.
  static func unescaped(_ bytes: ArraySlice<UInt8>) -> String {
    var units: [UInt8] = []
    units.reserveCapacity(bytes.count)
    var index = bytes.startIndex
    while index < bytes.endIndex {
      guard bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.endIndex else {
        units.append(bytes[index])
        index += 1
        continue
      }
      if let unit = plain(bytes[index + 1]) {
        units.append(unit)
        index += 2
      } else if let (character, length) = character(bytes[index...]) {
        units.append(contentsOf: String(character).utf8)
        index += length
      } else {
        units.append(contentsOf: bytes[index...(index + 1)])
        index += 2
      }
    }
    return String(decoding: units, as: UTF8.self)
  }

  static func escaped(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case 0x09: bytes += "\\t".utf8
      case 0x0A: bytes += "\\n".utf8
      case 0x0D: bytes += "\\r".utf8
      case 0..<0x20: bytes += "\\u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8
      default: bytes.append(byte)
      }
    }
    return bytes
  }

  private static func plain(_ letter: UInt8) -> UInt8? {
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): letter
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    default: nil
    }
  }

  /// Returns the character whose escape begins here, and the length of the escape. A surrogate pair counts as one.
  private static func character(_ bytes: ArraySlice<UInt8>) -> (Unicode.Scalar, length: Int)? {
    guard let first = escape(bytes) else { return nil }
    if let scalar = Unicode.Scalar(first) { return (scalar, 6) }
    guard let second = escape(bytes.dropFirst(6)), (0xD800..<0xDC00).contains(first),
      (0xDC00..<0xE000).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { return nil }
    return (scalar, 12)
  }

  private static func escape(_ bytes: ArraySlice<UInt8>) -> UInt32? {
    bytes.starts(with: "\\u".utf8) ? unit(of: bytes.dropFirst(2)) : nil
  }

  private static func unit(of bytes: ArraySlice<UInt8>) -> UInt32? {
    guard bytes.count >= 4 else { return nil }
    return bytes.prefix(4).reduce(UInt32?(0)) { number, byte in
      guard let number, let digit = byte.hexadecimalDigit else { return nil }
      return number << 4 | UInt32(digit)
    }
  }
}
