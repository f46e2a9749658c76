import Errand

/// Reads the escapes in `$'…'` and in `printf` formats.
struct EscapeReader {
  enum Style {
    case dollarQuotes
    case printf
  }

  private let bytes: [UInt8]
  private let style: Style
  private(set) var position: Int
  /// Whether a `printf` format has a directive, such as `%d`.
  private(set) var hasDirective = false

  init(_ bytes: [UInt8], at position: Int, style: Style) {
    self.bytes = bytes
    self.position = position
    self.style = style
  }

  /// Reads up to `end` without consuming it. Returns `nil` if `end` is missing.
  mutating func read(until end: UInt8?) -> [UInt8]? {
    var result: [UInt8] = []
    while position < bytes.count {
      let byte = bytes[position]
      if byte == end { return result }
      position += 1
      switch byte {
      case UInt8(ascii: "\\"): result += escape()
      case UInt8(ascii: "%") where style == .printf:
        if position < bytes.count, bytes[position] == byte { position += 1 } else { hasDirective = true }
        result.append(byte)
      default: result.append(byte)
      }
    }
    return end == nil ? result : nil
  }

  private mutating func escape() -> [UInt8] {
    guard position < bytes.count else { return [UInt8(ascii: "\\")] }
    let byte = bytes[position]
    position += 1
    switch byte {
    case UInt8(ascii: "a"): return [0x07]
    case UInt8(ascii: "b"): return [0x08]
    case UInt8(ascii: "e"), UInt8(ascii: "E"): return [0x1B]
    case UInt8(ascii: "f"): return [0x0C]
    case UInt8(ascii: "n"): return [0x0A]
    case UInt8(ascii: "r"): return [0x0D]
    case UInt8(ascii: "t"): return [0x09]
    case UInt8(ascii: "v"): return [0x0B]
    case UInt8(ascii: "\\"), UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "?"): return [byte]
    case UInt8(ascii: "0")...UInt8(ascii: "7"):
      position -= 1
      return [UInt8(truncatingIfNeeded: number(radix: 8, atMost: 3) ?? 0)]
    case UInt8(ascii: "x"): return number(radix: 16, atMost: 2).map { [UInt8($0)] } ?? [UInt8(ascii: "\\"), byte]
    case UInt8(ascii: "u") where style == .dollarQuotes: return character(digits: 4) ?? [UInt8(ascii: "\\"), byte]
    case UInt8(ascii: "U") where style == .dollarQuotes: return character(digits: 8) ?? [UInt8(ascii: "\\"), byte]
    default: return [UInt8(ascii: "\\"), byte]
    }
  }

  private mutating func number(radix: UInt32, atMost count: Int) -> UInt32? {
    var value: UInt32?
    for _ in 0..<count {
      guard position < bytes.count, let digit = bytes[position].hexadecimalDigit.map(UInt32.init), digit < radix else {
        break
      }
      value = (value ?? 0) &* radix &+ digit
      position += 1
    }
    return value
  }

  private mutating func character(digits: Int) -> [UInt8]? {
    number(radix: 16, atMost: digits).map { value in
      Array(String(Character(Unicode.Scalar(value) ?? "\u{FFFD}")).utf8)
    }
  }
}
