import ErrandFoundation

/// Hides secrets in any kind of text: the user name in `scheme://user@host` and `user:password@host`, and the value in
/// `name=value`, `name: value` and `<name>value</name>` if the name is secret, even if the delimiters are escaped in a
/// JSON string. Runs in linear time.
struct TextRedactor {
  let bytes: [UInt8]
  let redaction: Redaction
  /// The number of values that enclose this text.
  private let depth: Int
  /// The number of enclosing JSON strings whose escapes have been removed.
  private let level: Int
  lazy var signs = ExchangeSigns(bytes)
  lazy var isPropertyList = String(decoding: bytes, as: UTF8.self).contains("<plist")
  var position = 0
  /// The start of the word that ends at `position`.
  var wordStart = 0
  /// The ends of the ranges already searched, so that nothing is searched twice.
  private var valuesSeen = 0
  private var usersSeen = 0
  private var oddUsersSeen = 0
  private var escapesSeen = 0
  private var stretchesSeen = 0
  /// The start of the current text, which begins after a quotation mark or line break: its positions in `bytes` and in
  /// `result`.
  private var stretch = (start: 0, shown: 0)
  lazy var tags = ElementTags(bytes)
  private var result: [UInt8] = []

  init(_ text: String, redaction: Redaction, depth: Int, level: Int = 0) {
    bytes = Array(text.utf8)
    self.redaction = redaction
    self.depth = depth
    self.level = level
  }

  mutating func redacted() -> String {
    result.reserveCapacity(bytes.count)
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "="): assignment()
      case UInt8(ascii: ":"): colon()
      case UInt8(ascii: "<"): element()
      case UInt8(ascii: "%") where beginsEscapedPart: escapedPart()
      case UInt8(ascii: "\\"): backslashes()
      case UInt8(ascii: "\""), 0x0A, 0x0D:
        copy(to: position + 1)
        wordStart = position
        stretch = (position, result.count)
      case let byte:
        copy(to: position + 1)
        if !Self.isWordByte(byte) { wordStart = position }
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  private func kind(_ place: Range<Int>) -> SecretKind {
    let name = bytes[place]
    guard name.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else {
      return redaction.names.kind(of: name)
    }
    return redaction.kind(of: Redaction.unescaped(Substring(decoding: name, as: UTF8.self)))
  }

  /// Whether the name is `Authorization` or `Proxy-Authorization`, whose values begin with a scheme.
  private func isAuthorization(_ place: Range<Int>) -> Bool {
    bytes[place].suffix(13).elementsEqual("authorization".utf8, by: { $0 | 0x20 == $1 })
  }

  mutating func copy(to end: Int) {
    result.append(contentsOf: bytes[position..<end])
    position = end
  }

  mutating func hide(to end: Int) { replace(to: end, with: end > position ? Array(Redaction.mark.utf8) : []) }

  mutating func replace(to end: Int, with shown: [UInt8]) {
    result += shown
    position = end
    wordStart = end
    stretch = (end, result.count)
  }

  /// Redacts `name=value`: a parameter of a URL, form or header field, or an attribute of an element.
  private mutating func assignment() {
    let name = placeOfWordBefore
    let kind = kind(name)
    copy(to: position + 1)
    wordStart = position
    if kind != .plain, kind.hidesParameter(valueAhead, signs) {
      return hideValue(hasScheme: isAuthorization(name)) { $0.valueEnd }
    }
    let quote = position < bytes.count ? bytes[position] : 0
    let isQuoted = quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'")
    if isQuoted {
      copy(to: position + 1)
      stretch = (position, result.count)
    }
    guard position >= valuesSeen else { return }
    let end = isQuoted ? self.end { $0 == quote } : valueEnd
    valuesSeen = max(valuesSeen, end)
    // Only an escaped value is checked as a whole. The main loop handles everything else.
    let value = Substring(decoding: bytes[position..<end], as: UTF8.self)
    if value.utf8.contains(UInt8(ascii: "%")), redaction.holdsSecret(value, depth: depth, level: level) {
      hide(to: end)
    }
  }

  /// The value that begins here, without its quotation marks.
  private var valueAhead: ArraySlice<UInt8> {
    guard position < bytes.count, Self.isQuote(bytes[position]) else { return bytes[position..<valueEnd] }
    let quote = bytes[position]
    return bytes[(position + 1)...].prefix { $0 != quote && $0 != UInt8(ascii: "<") }
  }

  /// Whether an escaped `://` or `=` begins here.
  private var beginsEscapedPart: Bool {
    follows("3D") || follows("3d") || follows("3A%2F%2F") || follows("3a%2f%2f")
  }

  /// Redacts part of a URL that is escaped as a whole, as in the path of another URL.
  private mutating func escapedPart() {
    guard position >= escapesSeen else { return copy(to: position + 1) }
    let end = partEnd
    escapesSeen = end
    let word = Substring(decoding: bytes[wordStart..<end], as: UTF8.self)
    guard redaction.holdsSecret(word, depth: depth, level: level) else { return copy(to: position + 1) }
    result.removeLast(position - wordStart)
    position = wordStart
    hide(to: end)
  }

  /// Handles backslashes, which can begin an escape in a JSON string, such as `\u0026`.
  private mutating func backslashes() {
    let end = self.end { $0 != UInt8(ascii: "\\") }
    if JSONEscapes.isSign(bytes, at: end), hidesUnescaped() { return }
    // An escaped quotation mark does not end a string.
    let isQuote = end < bytes.count && bytes[end] == UInt8(ascii: "\"") && !(end - position).isMultiple(of: 2)
    copy(to: isQuote ? end + 1 : end)
    wordStart = position
  }

  /// Redacts the text around this position with its escapes removed. Returns `false` if there is nothing to hide.
  private mutating func hidesUnescaped() -> Bool {
    // Limit the nesting of strings, which the sender controls.
    guard depth + level < 2, position >= stretchesSeen else { return false }
    let end = stretchEnd
    stretchesSeen = end
    let text = JSONEscapes.unescaped(bytes[stretch.start..<end])
    let shown = redaction.shown(text, depth: depth, level: level + 1)
    guard shown != text else { return false }
    result.removeLast(result.count - stretch.shown)
    result.append(contentsOf: JSONEscapes.escaped(shown))
    position = end
    hide(to: end)
    return true
  }

  private mutating func colon() {
    if follows("//") { return authority(after: 3) }
    if follows("\\/\\/") { return authority(after: 5) }  // JSON may escape the slashes
    if hidesMember() { return }
    // In plain text, a short name is not enough: "code: 42" is not a secret.
    if redaction.names.isTelling(bytes[placeOfWordBefore]) {
      copy(to: position + 1)
      // In a JSON string, line breaks were escaped, and a value such as a key can continue after one.
      return hideValue { [level] text in
        text.end { level == 0 && ($0 == 0x0A || $0 == 0x0D) || $0 == UInt8(ascii: "\"") }
      }
    }
    // A user name and password without a scheme, as in `user:password@host`.
    guard wordStart < position, let at = userEnd else {
      copy(to: position + 1)
      return wordStart = position
    }
    result.removeLast(position - wordStart)
    hide(to: at)
  }

  /// The end of the user name and password, if this colon separates them.
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
    if let at = bytes[position..<authorityEnd].lastIndex(of: UInt8(ascii: "@")) ?? oddUserEnd { hide(to: at) }
    wordStart = position
  }

  /// The end of a user name and password, if the password contains a URL delimiter, as in `https://me:pass#word@host`.
  private var oddUserEnd: Int? {
    mutating get {
      let delimiter = authorityEnd
      guard delimiter < bytes.count, "/?#\\".utf8.contains(bytes[delimiter]), bytes[position] != UInt8(ascii: "["),
        let colon = bytes[position..<delimiter].firstIndex(of: UInt8(ascii: ":"))
      else { return nil }
      let port = bytes[(colon + 1)..<delimiter]
      guard port.isEmpty || !port.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      if oddUsersSeen < delimiter {
        oddUsersSeen = end { $0 <= 0x20 || "@\"'<>`".utf8.contains($0) }
      }
      return oddUsersSeen < bytes.count && bytes[oddUsersSeen] == UInt8(ascii: "@") ? oddUsersSeen : nil
    }
  }

  /// Redacts `<name>value</name>` if the name is secret.
  private mutating func element() {
    copy(to: position + 1)
    let start = position
    let nameEnd = end { !Self.isElementByte($0) }
    let name = bytes[start..<nameEnd]
    wordStart = position
    guard !name.isEmpty else { return }
    if name.elementsEqual("key".utf8), isPropertyList { return key() }
    let kind = redaction.names.kind(of: name)
    guard kind != .plain else { return }
    let close = end { $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "<") }
    guard close < bytes.count, bytes[close] == UInt8(ascii: ">"), bytes[close - 1] != UInt8(ascii: "/"),
      kind.hidesElement(bytes[(close + 1)...].prefix { $0 != UInt8(ascii: "<") }, signs)
    else { return }
    copy(to: close + 1)
    while position < bytes.count, bytes[position] <= 0x20 { copy(to: position + 1) }
    // Without an end tag, text ends at the next element, while nested elements or CDATA extend to the end of the input.
    let isText = position < bytes.count && bytes[position] != UInt8(ascii: "<")
    hide(to: tags.end(of: name, from: position) ?? (isText ? end { $0 == UInt8(ascii: "<") } : bytes.count))
  }

  // MARK: Values of secret names

  /// A quotation mark that begins a value, with the number of backslashes before it inside a JSON string.
  struct Quote {
    let mark: UInt8
    let escapes: Int
  }

  func quote(at place: Int) -> Quote? {
    let mark = bytes[place...].firstIndex { $0 != UInt8(ascii: "\\") } ?? bytes.count
    guard mark < bytes.count, Self.isQuote(bytes[mark]) else { return nil }
    return Quote(mark: bytes[mark], escapes: mark - place)
  }

  /// Hides the value that begins here, after optional whitespace. A value without quotation marks ends at `end`.
  mutating func hideValue(hasScheme: Bool = false, upTo end: (Self) -> Int) {
    while position < bytes.count, Self.isBlank(bytes[position]) { copy(to: position + 1) }
    guard let quote = quote(at: position) else { return hideWord(hasScheme: hasScheme, upTo: end) }
    copy(to: position + quote.escapes + 1)
    hide(to: self.end(of: quote))
  }

  /// Hides an unquoted value, and the credentials after a scheme's name (RFC 9110 §11.4).
  private mutating func hideWord(hasScheme: Bool, upTo end: (Self) -> Int) {
    let start = position
    hide(to: end(self))
    guard hasScheme || Self.isScheme(bytes[start..<position]) else { return }
    while position < bytes.count, Self.isBlank(bytes[position]) { copy(to: position + 1) }
    hide(to: end(self))
  }

  private var placeOfWordBefore: Range<Int> {
    wordStart == position ? placeOfWord(endingAt: endBeforeBlanks) : wordStart..<position
  }

  var endBeforeBlanks: Int {
    var end = position
    while end > 0, Self.isBlank(bytes[end - 1]) { end -= 1 }
    return end
  }

  func placeOfWord(endingAt end: Int) -> Range<Int> {
    var start = end
    while start > 0, Self.isWordByte(bytes[start - 1]) { start -= 1 }
    return start..<end
  }

  private func follows(_ text: StaticString) -> Bool {
    let start = position + 1
    return text.withUTF8Buffer { start + $0.count <= bytes.count && bytes[start..<start + $0.count].elementsEqual($0) }
  }

  private static func isScheme(_ word: ArraySlice<UInt8>) -> Bool {
    // All schemes are shorter than this. Don't look up a longer word, which may be a secret.
    word.count <= 16 && schemes.contains(String(decoding: word, as: UTF8.self).lowercased())
  }

  private static let schemes: Set<String> = [
    "apikey", "basic", "bearer", "digest", "dpop", "gnap", "hawk", "hoba", "key", "mutual", "negotiate", "ntlm",
    "oauth", "scram-sha-1", "scram-sha-256", "signature", "token", "vapid",
  ]

  static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }

  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
