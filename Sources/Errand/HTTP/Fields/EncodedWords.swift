import ErrandFoundation

/// Decodes encoded words such as `=?utf-8?Q?caf=C3=A9?=` (RFC 2047). Mail software encodes file names this way, and
/// browsers decode them.
enum EncodedWords {
  /// Decodes the encoded words in a text. Malformed words are left unchanged.
  static func decoded(_ text: String) -> String {
    guard text.utf8.contains(mark) else { return text }
    let bytes = Array(text.utf8)
    var decoded: [UInt8] = []
    var index = 0
    var lastEnd: Int?  // the end of the last word in `decoded`
    while index < bytes.count {
      guard let word = word(bytes[index...]) else {
        decoded.append(bytes[index])
        index += 1
        continue
      }
      // RFC 2047 §6.2: whitespace between two words is ignored.
      if let lastEnd, decoded[lastEnd...].allSatisfy({ FieldScanner.isHTTPSpace($0) }) {
        decoded.removeSubrange(lastEnd...)
      }
      decoded += Array(word.text.utf8)
      index = word.end
      lastEnd = decoded.count
    }
    return String(decoding: decoded, as: UTF8.self)
  }

  private static let mark = UInt8(ascii: "?")

  private static func word(_ bytes: ArraySlice<UInt8>) -> (text: String, end: Int)? {
    guard bytes.starts(with: "=?".utf8) else { return nil }
    // Encoded text can't contain a question mark, so the split doesn't reach the next word.
    let parts = bytes.dropFirst(2).split(separator: mark, maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 4, parts[3].first == UInt8(ascii: "="), !parts[0].isEmpty else { return nil }
    let content: [UInt8]?
    switch String(decoding: parts[1], as: UTF8.self).lowercased() {
    case "q": content = quoted(parts[2])
    case "b": content = Data(base64Encoded: String(decoding: parts[2], as: UTF8.self)).map { Array($0) }
    default: content = nil
    }
    // RFC 2231 §5: a language may follow the charset.
    let charset = String(decoding: parts[0].prefix { $0 != UInt8(ascii: "*") }, as: UTF8.self)
    guard let content, let text = ExtendedValue.text(of: content, in: charset) else { return nil }
    return (text, parts[3].startIndex + 1)
  }

  // RFC 2047 §4.2.
  private static func quoted(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
    var (rest, decoded): (ArraySlice<UInt8>, [UInt8]) = (bytes, [])
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "=") {
        guard let high = rest.popFirst()?.hexadecimalDigit, let low = rest.popFirst()?.hexadecimalDigit else {
          return nil
        }
        decoded.append(high << 4 | low)
      } else {
        decoded.append(byte == UInt8(ascii: "_") ? UInt8(ascii: " ") : byte)
      }
    }
    return decoded
  }
}
