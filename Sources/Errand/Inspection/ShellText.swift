import ErrandFoundation

/// Text as a POSIX shell takes it.
///
/// `$'…'` would do for all bytes, but dash and older shells do not know it. `printf` with octal escapes is in every POSIX shell.
enum ShellText {
  /// A text as one word: in single quotes, and where it has control characters, which a terminal would obey when the command
  /// is pasted, as the output of `printf`. It must not end with a line break, which the shell would drop there.
  static func quoted(_ text: String) -> String {
    guard isPlain(text) else { return "\"$(\(printf(text.utf8)))\"" }
    guard text.utf8.contains(UInt8(ascii: "'")) else { return "'" + text + "'" }
    // Sign by sign: with a combining mark behind it, a quote would be another character, and still end the word.
    var word = "'"
    for scalar in text.unicodeScalars {
      if scalar == "'" { word += "'\\''" } else { word.unicodeScalars.append(scalar) }
    }
    return word + "'"
  }

  /// A command that writes these bytes.
  static func printf(_ bytes: some Sequence<UInt8>) -> String {
    var format = ""
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "%"): format += "%%"  // some shells take "\\045" for the sign that begins a directive
      // A format that begins with a hyphen would be an option.
      case UInt8(ascii: "'"), UInt8(ascii: "\\"), UInt8(ascii: "-"), 0..<0x20, 0x7F...:
        let digits = String(byte, radix: 8)
        format += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
      default: format.unicodeScalars.append(Unicode.Scalar(byte))
      }
    }
    return "printf '\(format)'"
  }

  /// True where a terminal shows all of the text as it is: no control character but line feeds and tabs, and none that turns the
  /// direction of writing.
  static func isPlain(_ text: String) -> Bool {
    if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) || $0 == 0x0A || $0 == 0x09 }) { return true }
    return text.unicodeScalars.allSatisfy { scalar in
      switch scalar.value {
      case 0x09, 0x0A: true
      case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069: false
      default: true
      }
    }
  }
}
