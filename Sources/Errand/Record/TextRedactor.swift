import Foundation

/// Hides secrets in text of any kind, in time that grows with its size alone: the user in `scheme://user@host` and `user:password@host`,
/// the value in `name=value`, `name: value` and `<name>value</name>` where the name is secret.
struct TextRedactor {
  private let bytes: [UInt8]
  private let redaction: Redaction
  /// How many values this is a value of.
  private let depth: Int
  private var position = 0
  /// Where the word that ends at `position` begins.
  private var wordStart = 0
  /// Up to where values were looked at as a whole, and up to where there is no user: nothing is looked at twice.
  private var valuesSeen = 0
  private var usersSeen = 0
  private var result: [UInt8] = []

  init(_ text: String, redaction: Redaction, depth: Int) {
    bytes = Array(text.utf8)
    self.redaction = redaction
    self.depth = depth
  }

  /// The text with every secret replaced.
  mutating func redacted() -> String {
    result.reserveCapacity(bytes.count)
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "="): assignment()
      case UInt8(ascii: ":"): colon()
      case UInt8(ascii: "<"): element()
      case let byte:
        copy(to: position + 1)
        if !Self.isWordByte(byte) { wordStart = position }
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private var word: Substring { Substring(decoding: bytes[wordStart..<position], as: UTF8.self) }

  private mutating func copy(to end: Int) {
    result.append(contentsOf: bytes[position..<end])
    position = end
  }

  private mutating func hide(to end: Int) {
    if end > position { result.append(contentsOf: Redaction.mark.utf8) }
    position = end
    wordStart = end
  }

  /// `name=value`: a parameter of a URL, a form or a header field, or an attribute of an element.
  private mutating func assignment() {
    let isSecret = redaction.isSecret(Redaction.unescaped(word))
    copy(to: position + 1)
    wordStart = position
    let quote = position < bytes.count ? bytes[position] : 0
    let isQuoted = quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'")
    if isQuoted { copy(to: position + 1) }
    guard isSecret || position >= valuesSeen else { return }
    let end = isQuoted ? self.end { $0 == quote } : valueEnd
    valuesSeen = max(valuesSeen, end)
    if isSecret { return hide(to: end) }
    // Only what is escaped is looked at as a whole: the rest is walked through.
    let value = Substring(decoding: bytes[position..<end], as: UTF8.self)
    if value.utf8.contains(UInt8(ascii: "%")), redaction.holdsSecret(value, depth: depth) { hide(to: end) }
  }

  private mutating func colon() {
    if follows("//") { return authority(after: 3) }
    if follows("\\/\\/") { return authority(after: 5) }  // as JSON may write it
    let isSecret = redaction.isSecretInProse(String(word))
    if isSecret {
      copy(to: position + 1)
      while position < bytes.count, Self.isBlank(bytes[position]) { copy(to: position + 1) }
      return hide(to: end { $0 == 0x0A || $0 == 0x0D || $0 == UInt8(ascii: "\"") })
    }
    // A user and a password without a scheme.
    guard wordStart < position, let at = userEnd else {
      copy(to: position + 1)
      return wordStart = position
    }
    result.removeLast(position - wordStart)
    hide(to: at)
  }

  /// Where the user ends whose password may begin here; nil where there is none.
  private var userEnd: Int? {
    mutating get {
      guard position >= usersSeen else { return nil }
      let end = authorityEnd
      usersSeen = end
      return bytes[position..<end].lastIndex(of: UInt8(ascii: "@"))
    }
  }

  private mutating func authority(after count: Int) {
    copy(to: position + count)
    if let at = bytes[position..<authorityEnd].lastIndex(of: UInt8(ascii: "@")) { hide(to: at) }
    wordStart = position
  }

  /// `<name>value</name>`, the name of the element being secret.
  private mutating func element() {
    copy(to: position + 1)
    let start = position
    let nameEnd = end { !Self.isWordByte($0) && $0 != UInt8(ascii: ":") }
    let name = String(decoding: bytes[start..<nameEnd], as: UTF8.self)
    wordStart = position
    guard nameEnd > start, redaction.isSecret(name) else { return }
    let close = end { $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "<") }
    guard close < bytes.count, bytes[close] == UInt8(ascii: ">"), bytes[close - 1] != UInt8(ascii: "/") else { return }
    copy(to: close + 1)
    hide(to: end { $0 == UInt8(ascii: "<") })
  }

  // MARK: Where things end

  private func end(where isEnd: (UInt8) -> Bool) -> Int {
    bytes[position...].firstIndex(where: isEnd) ?? bytes.count
  }

  /// Commas and semicolons end a value where a blank or nothing follows, for they may be part of one.
  private var valueEnd: Int {
    var index = position
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "&"), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "<"), UInt8(ascii: ">"),
        UInt8(ascii: "`"), UInt8(ascii: "#"), 0...0x20:
        return index
      case UInt8(ascii: ","), UInt8(ascii: ";"):
        if index + 1 == bytes.count || bytes[index + 1] <= 0x20 { return index }
      default: break
      }
      index += 1
    }
    return index
  }

  private var authorityEnd: Int {
    end { $0 <= 0x20 || "/?#\\\"'<>`,;".utf8.contains($0) }
  }

  private func follows(_ text: StaticString) -> Bool {
    let start = position + 1
    return text.withUTF8Buffer { start + $0.count <= bytes.count && bytes[start..<start + $0.count].elementsEqual($0) }
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  private static func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...0xFF:
      true
    default: "-_.%+[]$~!*".utf8.contains(byte)
    }
  }
}
