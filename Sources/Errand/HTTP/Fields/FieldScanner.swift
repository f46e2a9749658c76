/// Reads the value of a header field from its first byte to its last: tokens, quoted strings and lists (RFC 9110 §5.6).
struct FieldScanner {
  private let bytes: [UInt8]
  private var index = 0

  init(_ text: some StringProtocol) { bytes = Array(text.utf8) }

  var isAtEnd: Bool { index == bytes.count }

  /// The next byte, which stays.
  var next: UInt8? { index < bytes.count ? bytes[index] : nil }

  /// Skips blanks and tabs (RFC 9110 §5.6.3).
  mutating func skipBlanks() {
    while let byte = next, Self.isBlank(byte) { index += 1 }
  }

  /// Skips `byte` where it comes next; false where another does.
  mutating func skip(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    index += 1
    return true
  }

  /// The token that comes next (RFC 9110 §5.6.2); nil where none does.
  mutating func token() -> String? {
    let start = index
    while let byte = next, HTTPHeaderName.isTokenByte(byte) { index += 1 }
    return index > start ? String(decoding: bytes[start..<index], as: UTF8.self) : nil
  }

  /// The text of the quoted string that comes next, its escapes undone (RFC 9110 §5.6.4); nil where none does, or it does
  /// not end.
  mutating func quotedString() -> String? {
    guard next == UInt8(ascii: "\"") else { return nil }
    var text: [UInt8] = []
    var position = index + 1
    while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
      if bytes[position] == UInt8(ascii: "\\"), position + 1 < bytes.count { position += 1 }
      text.append(bytes[position])
      position += 1
    }
    guard position < bytes.count else { return nil }
    index = position + 1
    return String(decoding: text, as: UTF8.self)
  }

  /// The text before `end`, or before the end of all, without the blanks around it.
  mutating func text(before end: UInt8) -> String {
    let start = index
    while let byte = next, byte != end { index += 1 }
    return String(decoding: Self.trimmed(bytes[start..<index]), as: UTF8.self)
  }

  /// The parameters that come next, `; name=value`, by their names in lower case; values are tokens or quoted strings, or what stands
  /// before the next `;`. In a list, a comma ends the member, and is skipped.
  mutating func parameters(inList: Bool = false) -> [(String, String?)] {
    var parameters: [(String, String?)] = []
    while true {
      skipBlanks()
      guard skip(UInt8(ascii: ";")) else { break }
      skipBlanks()
      guard let name = token() else { continue }
      skipBlanks()
      guard skip(UInt8(ascii: "=")) else {
        parameters.append((name.lowercased(), nil))
        continue
      }
      skipBlanks()
      parameters.append((name.lowercased(), quotedString() ?? bareValue(inList)))
    }
    while let byte = next, !inList || byte != UInt8(ascii: ",") { index += 1 }
    _ = skip(UInt8(ascii: ","))
    return parameters
  }

  /// The text before the next `;`, or the comma of a list.
  private mutating func bareValue(_ inList: Bool) -> String {
    let start = index
    while let byte = next, byte != UInt8(ascii: ";"), !inList || byte != UInt8(ascii: ",") { index += 1 }
    return String(decoding: Self.trimmed(bytes[start..<index]), as: UTF8.self)
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard let first = bytes.firstIndex(where: { !isBlank($0) }), let last = bytes.lastIndex(where: { !isBlank($0) })
    else { return [] }
    return bytes[first...last]
  }
}

extension FieldScanner {
  /// The members of a list, in order, without the blanks around them. A comma in a quoted string divides nothing, and empty
  /// members are none (RFC 9110 §5.6.1).
  ///
  /// - Parameter lines: The lines of the field; each may hold any number of members.
  static func members(of lines: [String]) -> [String] { lines.flatMap { members(of: $0) } }

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

/// A number of seconds in a field (RFC 9111 §1.2.2).
enum DeltaSeconds {
  /// The number that stands for every one above it: 2³¹.
  static let largest = 2_147_483_648

  /// The number of seconds that a text says; nil where it is no run of digits.
  static func parse(_ text: some StringProtocol) -> Int? {
    guard !text.isEmpty else { return nil }
    var number = 0
    for byte in text.utf8 {
      guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
      // RFC 9111 §1.2.2: a value that is too large counts as 2³¹ or the most that can be held.
      number = min(number * 10 + Int(byte - UInt8(ascii: "0")), largest)
    }
    return number
  }
}
