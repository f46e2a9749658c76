/// Writes and reads form field and file names as browsers do (HTML Standard, "multipart/form-data encoding algorithm").
enum FormName {
  private static let quote = UInt8(ascii: "\"")
  private static let backslash = UInt8(ascii: "\\")
  private static let (cr, lf) = (UInt8(ascii: "\r"), UInt8(ascii: "\n"))

  // MARK: Writing

  /// Escapes a field name. Every kind of line break becomes `%0D%0A`.
  static func escapedField(_ name: String) -> String {
    let bytes = Array(name.utf8)
    var written: [UInt8] = []
    for (index, byte) in bytes.enumerated() {
      if byte == lf, index > 0, bytes[index - 1] == cr { continue }
      written += byte == cr || byte == lf ? [cr, lf] : [byte]
    }
    return escaped(String(decoding: written, as: UTF8.self))
  }

  static func escaped(_ text: String, quotes: Bool = true) -> String {
    let bytes = text.utf8.flatMap { byte in
      byte == cr || byte == lf || (quotes && byte == quote) ? byte.percentEncoded : [byte]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  // MARK: Reading

  /// Returns the parameters of a part's `Content-Disposition`, with lowercase names.
  static func parameters(of value: String) -> [(name: String, value: String)] {
    segments(of: Array(value.utf8)).dropFirst().compactMap { segment in
      guard let equals = segment.firstIndex(of: UInt8(ascii: "=")) else { return nil }
      let name = trimmed(segment[..<equals])
      guard HTTPHeaderName.isValid(name) else { return nil }
      let value = segment[segment.index(after: equals)...].drop { isBlank($0) }
      guard value.first == quote else { return (name.lowercased(), trimmed(value)) }
      let text = value.dropFirst()
      return (name.lowercased(), unescaped(text[..<(end(of: text) ?? text.endIndex)]))
    }
  }

  /// Splits a value at semicolons outside quotes.
  private static func segments(of bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    var segments: [ArraySlice<UInt8>] = []
    var (start, index) = (0, 0)
    while index < bytes.count {
      switch bytes[index] {
      case quote: index = end(of: bytes[(index + 1)...]) ?? bytes.count
      case UInt8(ascii: ";"):
        segments.append(bytes[start..<index])
        start = index + 1
      default: break
      }
      index += 1
    }
    return segments + [bytes[start...]]
  }

  /// Returns the index of a name's closing quote.
  ///
  /// Browsers write a backslash unescaped; curl before 7.81 and others use it as the escape character. A backslash
  /// before a quote is an escape, unless the quote ends the value or the next parameter follows.
  private static func end(of text: ArraySlice<UInt8>) -> Int? {
    var isEscaped = false
    for index in text.indices {
      if text[index] == quote, !isEscaped || endsParameter(text[(index + 1)...]) { return index }
      isEscaped = text[index] == backslash && !isEscaped
    }
    return nil
  }

  private static func endsParameter(_ rest: ArraySlice<UInt8>) -> Bool {
    let rest = rest.drop { isBlank($0) }
    guard rest.first == UInt8(ascii: ";") else { return rest.isEmpty }
    let name = rest.dropFirst().drop { isBlank($0) }
    let equals = name.drop { HTTPHeaderName.isTokenByte($0) }.drop { isBlank($0) }
    guard equals.first == UInt8(ascii: "="), name.first != UInt8(ascii: "=") else { return name.isEmpty }
    let value = equals.dropFirst().drop { isBlank($0) }
    return value.first.map { $0 == quote || HTTPHeaderName.isTokenByte($0) } ?? true
  }

  /// Unescapes a name. If it contains an escaped quote, backslash escapes are decoded. Otherwise, the percent escapes
  /// that browsers write are decoded.
  private static func unescaped(_ text: ArraySlice<UInt8>) -> String {
    var (result, rest) = ([UInt8](), text)
    let hasBackslashes = text.contains(quote)
    while let byte = rest.popFirst() {
      switch byte {
      case backslash where hasBackslashes && (rest.first == quote || rest.first == backslash):
        result.append(rest.removeFirst())
      case UInt8(ascii: "%") where !hasBackslashes:
        if let escaped = [cr, lf, quote].first(where: { isEscape(rest.prefix(2), of: $0) }) {
          result.append(escaped)
          rest = rest.dropFirst(2)
        } else {
          result.append(byte)
        }
      default: result.append(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func isEscape(_ digits: ArraySlice<UInt8>, of byte: UInt8) -> Bool {
    digits.count == 2 && digits.first?.hexadecimalDigit == byte >> 4 && digits.last?.hexadecimalDigit == byte & 15
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
    String(String(decoding: bytes, as: UTF8.self)[...].trimmingSpaces())
  }
}

extension ContentDisposition {
  /// Parses a part's `Content-Disposition`. Returns `nil` if the value has no type. Form field names (RFC 7578 §4.2)
  /// use the browsers' escaping, not RFC 9110's.
  init?(ofPart value: String) {
    guard let plain = ContentDisposition(value), !plain.type.isEmpty else { return nil }
    guard plain.type == "form-data" else {
      self = plain
      return
    }
    type = plain.type
    var parameters = Dictionary(FormName.parameters(of: value), uniquingKeysWith: { first, _ in first })
    // RFC 7578 §4.2 forbids `name*`, but Python's urllib3 1.x and aiohttp send it.
    if parameters["name"] == nil { parameters["name"] = parameters["name*"].flatMap { ExtendedValue.text(of: $0) } }
    self.parameters = parameters
  }
}
