extension TextRedactor {
  /// Returns the end of a quoted value: the next quotation mark with no more backslashes than the opening one.
  func end(of quote: Quote) -> Int {
    var escapes = 0
    for index in position..<bytes.count {
      if bytes[index] == UInt8(ascii: "\\") {
        escapes += 1
      } else {
        if bytes[index] == quote.mark, escapes <= quote.escapes { return index - escapes }
        escapes = 0
      }
    }
    return bytes.count
  }

  /// The end of a member's value: an object or array with its contents, or a literal.
  var memberEnd: Int {
    var depth = 0
    for index in position..<bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if depth <= 0 { return depth < 0 ? index : index + 1 }
      case UInt8(ascii: ","), UInt8(ascii: "\""), 0x0A, 0x0D: if depth == 0 { return index }
      default: break
      }
    }
    return bytes.count
  }

  func end(where isEnd: (UInt8) -> Bool) -> Int {
    bytes[position...].firstIndex(where: isEnd) ?? bytes.count
  }

  var valueEnd: Int { bytes[position...].indices.first(where: endsValue) ?? bytes.count }

  /// The end of the value, or the next URL delimiter if that comes first.
  var partEnd: Int {
    let isEnd = { (index: Int) in
      bytes[index] == UInt8(ascii: "/") || bytes[index] == UInt8(ascii: "?") || endsValue(index)
    }
    return bytes[position...].indices.first(where: isEnd) ?? bytes.count
  }

  /// Whether the value ends here. A comma or semicolon ends a value only before whitespace or at the end of the text,
  /// because it can be part of the value.
  private func endsValue(_ index: Int) -> Bool {
    switch bytes[index] {
    case UInt8(ascii: "&"), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "<"), UInt8(ascii: ">"),
      UInt8(ascii: "`"), UInt8(ascii: "#"), 0...0x20:
      true
    case UInt8(ascii: ","), UInt8(ascii: ";"): index + 1 == bytes.count || bytes[index + 1] <= 0x20
    default: false
    }
  }

  /// The position of the next line break or unescaped quotation mark.
  var stretchEnd: Int {
    var isEscaped = false
    for index in position..<bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\\"): isEscaped.toggle()
      case UInt8(ascii: "\"") where !isEscaped, 0x0A, 0x0D: return index
      default: isEscaped = false
      }
    }
    return bytes.count
  }

  var authorityEnd: Int {
    end { $0 <= 0x20 || "/?#\\\"'<>`,;".utf8.contains($0) }
  }

  static func isElementByte(_ byte: UInt8) -> Bool { isWordByte(byte) || byte == UInt8(ascii: ":") }

  static func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...0xFF:
      true
    case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "%"), UInt8(ascii: "+"),
      UInt8(ascii: "["),
      UInt8(ascii: "]"), UInt8(ascii: "$"), UInt8(ascii: "~"), UInt8(ascii: "!"), UInt8(ascii: "*"):
      true
    default: false
    }
  }
}
