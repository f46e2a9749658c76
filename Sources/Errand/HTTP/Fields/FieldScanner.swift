/// Parses a header field value: tokens, quoted strings, parameters and lists (RFC 9110 §5.6).
package struct FieldScanner {
  /// A parameter, with its name in lower case. The value is `nil` if the equals sign is missing.
  typealias Parameter = (name: String, value: String?)

  private let bytes: [UInt8]
  private var index = 0

  init(_ text: some StringProtocol) { bytes = Array(text.utf8) }

  var isAtEnd: Bool { index == bytes.count }

  var next: UInt8? { index < bytes.count ? bytes[index] : nil }

  mutating func skipBlanks() { _ = take { !Self.isBlank($0) } }

  mutating func skip(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    index += 1
    return true
  }

  /// Consumes the bytes before the first one that matches `isEnd`, or all remaining bytes.
  mutating func take(until isEnd: (UInt8) -> Bool) -> ArraySlice<UInt8> {
    let start = index
    while index < bytes.count, !isEnd(bytes[index]) { index += 1 }
    return bytes[start..<index]
  }

  /// Consumes a token (RFC 9110 §5.6.2). Returns `nil` if the next byte can't start one.
  mutating func token() -> String? {
    let token = take { !HTTPHeaderName.isTokenByte($0) }
    return token.isEmpty ? nil : String(decoding: token, as: UTF8.self)
  }

  /// Consumes a quoted string and returns its unescaped text (RFC 9110 §5.6.4). Returns `nil` and consumes nothing if
  /// the next byte isn't a quote or the string isn't closed.
  mutating func quotedString() -> String? {
    let start = index
    guard let text = openQuotedString() else { return nil }
    guard text.isClosed else {
      index = start
      return nil
    }
    return String(decoding: text.bytes, as: UTF8.self)
  }

  /// Consumes a quoted string and returns its unescaped bytes. An unclosed string extends to the end of the value, as
  /// in MIME Sniffing and RFC 8288 appendix B.4.
  mutating func openQuotedString() -> (bytes: [UInt8], isClosed: Bool)? {
    guard skip(UInt8(ascii: "\"")) else { return nil }
    var text: [UInt8] = []
    while let byte = next {
      index += 1
      if byte == UInt8(ascii: "\"") { return (text, true) }
      if byte == UInt8(ascii: "\\"), let escaped = next {
        text.append(escaped)
        index += 1
      } else {
        text.append(byte)
      }
    }
    return (text, false)
  }

  mutating func text(before end: UInt8) -> String {
    String(decoding: Self.trimmed(take { $0 == end }), as: UTF8.self)
  }

  /// Consumes the parameters after the next `;`, skipping malformed ones. If `inList` is set, the parameters end at a
  /// comma, which is also consumed.
  mutating func parameters(inList: Bool = false) -> [Parameter] {
    var parameters: [Parameter] = []
    while true {
      _ = take { Self.endsParameter($0, inList) }
      guard skip(UInt8(ascii: ";")) else { break }
      if let parameter = parameter(inList: inList) { parameters.append(parameter) }
    }
    _ = skip(UInt8(ascii: ","))
    return parameters
  }

  /// Consumes a parameter, `name=value`. Returns `nil` if it is malformed. The value is a token, a quoted string, or
  /// any text before the next `;`.
  mutating func parameter(inList: Bool = false) -> Parameter? {
    skipBlanks()
    let name = take { $0 == UInt8(ascii: "=") || Self.isBlank($0) || Self.endsParameter($0, inList) }
    skipBlanks()
    var value: String?
    if skip(UInt8(ascii: "=")) {
      skipBlanks()
      let text = openQuotedString().map { $0.bytes[...] } ?? Self.trimmed(take { Self.endsParameter($0, inList) })
      value = String(decoding: text, as: UTF8.self)
    } else if let next, !Self.endsParameter(next, inList) {
      return nil
    }
    guard !name.isEmpty, name.allSatisfy({ HTTPHeaderName.isTokenByte($0) }) else { return nil }
    return (String(decoding: name, as: UTF8.self).lowercased(), value)
  }

  private static func endsParameter(_ byte: UInt8, _ inList: Bool) -> Bool {
    byte == UInt8(ascii: ";") || (inList && byte == UInt8(ascii: ","))
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

  /// Whether a byte is HTTP whitespace (Fetch §2.2): a space, a tab or a line break.
  static func isHTTPSpace(_ byte: UInt8) -> Bool { isBlank(byte) || byte == 0x0A || byte == 0x0D }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard let first = bytes.firstIndex(where: { !isBlank($0) }), let last = bytes.lastIndex(where: { !isBlank($0) })
    else { return [] }
    return bytes[first...last]
  }
}

extension FieldScanner {
  /// Returns the trimmed members of a list, in order, without empty ones. Commas in quoted strings don't separate
  /// members (RFC 9110 §5.6.1).
  package static func members(of lines: [String]) -> [String] { lines.flatMap { members(of: $0) } }

  private static func members(of line: String) -> [String] {
    let bytes = Array(line.utf8)
    var members: [String] = []
    var (start, index, isQuoted) = (0, 0, false)
    func end(at end: Int) {
      let member = trimmed(bytes[start..<end])
      if !member.isEmpty { members.append(String(decoding: member, as: UTF8.self)) }
    }
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\""): isQuoted.toggle()
      case UInt8(ascii: "\\") where isQuoted: index += 1
      case UInt8(ascii: ",") where !isQuoted:
        end(at: index)
        start = index + 1
      default: break
      }
      index += 1
    }
    end(at: bytes.count)
    return members
  }
}

/// Parses a number of seconds (RFC 9111 §1.2.2).
enum DeltaSeconds {
  /// The maximum result, 2³¹. Larger numbers are clamped to it.
  static let largest = 2_147_483_648

  static func parse(_ text: some StringProtocol) -> Int? {
    guard !text.isEmpty else { return nil }
    var number = 0
    for byte in text.utf8 {
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
      number = min(number * 10 + Int(byte - UInt8(ascii: "0")), largest)
    }
    return number
  }
}
