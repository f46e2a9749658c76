import ErrandFoundation

/// Formats text for a POSIX shell.
///
/// `printf` with octal escapes works in every POSIX shell. dash and older shells do not support `$'…'`.
enum ShellText {
  /// Returns the text as a single word. Uses single quotes, or the output of `printf` for text with control characters,
  /// which a terminal would execute when the command is pasted. The text must not end with a line break, because the
  /// shell would drop it.
  static func quoted(_ text: String) -> String {
    guard isPlain(text) else { return "\"$(\(printf(text.utf8)))\"" }
    guard text.utf8.contains(UInt8(ascii: "'")) else { return "'" + text + "'" }
    // Compare scalars: a quote followed by a combining mark is a different character, but still ends the word.
    var word = "'"
    for scalar in text.unicodeScalars {
      if scalar == "'" { word += "'\\''" } else { word.unicodeScalars.append(scalar) }
    }
    return word + "'"
  }

  static func printf(_ bytes: some Sequence<UInt8>) -> String {
    var format = ""
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "%"): format += "%%"  // in some shells "\\045" begins a directive
      // Escape the hyphen, because a format that begins with a hyphen would be an option.
      case UInt8(ascii: "'"), UInt8(ascii: "\\"), UInt8(ascii: "-"), 0..<0x20, 0x7F...:
        let digits = String(byte, radix: 8)
        format += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
      default: format.unicodeScalars.append(Unicode.Scalar(byte))
      }
    }
    return "printf '\(format)'"
  }

  /// Whether a terminal displays the text unchanged: the text has no control characters except line feeds and tabs, and
  /// no characters that change the text direction.
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
