// JSON members inside text, and property lists.
extension TextRedactor {
  /// Hides the value that follows if the member's name is secret. Otherwise, does nothing and returns `false`.
  mutating func hidesMember() -> Bool {
    guard let (name, quote) = quotedName else { return false }
    let kind = redaction.kind(of: name)
    guard kind != .plain else { return false }
    let start = bytes[(position + 1)...].firstIndex { !Self.isBlank($0) } ?? bytes.count
    let text = self.quote(at: start).map { quote in
      let start = start + quote.escapes + 1
      return bytes[start..<(bytes[start...].firstIndex { $0 == quote.mark } ?? bytes.count)]
    }
    guard kind.hidesMember(text, signs, isInString: quote.escapes > 0) else { return false }
    copy(to: start)
    if text != nil {
      hideValue { $0.memberEnd }
    } else {
      let value = HiddenValue(bytes, from: position, quote: quote, keepsNumbers: kind == .plural)
      replace(to: value.end, with: value.shown)
    }
    return true
  }

  /// The quoted name before this position, as in `"name": 1`, and its quotation marks.
  private var quotedName: (name: String, quote: Quote)? {
    var end = endBeforeBlanks
    guard wordStart == position, end > 0, Self.isQuote(bytes[end - 1]) else { return nil }
    let mark = bytes[end - 1]
    end -= 1
    let quote = end
    while end > 0, bytes[end - 1] == UInt8(ascii: "\\") { end -= 1 }
    let place = placeOfWord(endingAt: end)
    guard !place.isEmpty, place.lowerBound > 0, bytes[place.lowerBound - 1] == mark else { return nil }
    return (String(decoding: bytes[place], as: UTF8.self), Quote(mark: mark, escapes: quote - end))
  }

  /// Writes the `<key>` of a property list and hides the value after it if the name is secret. The value keeps its
  /// type.
  mutating func key() {
    guard let start = tagEnd(from: position) else { return }
    let name = bytes[start...].prefix { $0 != UInt8(ascii: "<") }
    guard let end = tagEnd(from: name.endIndex + 1) else { return }
    copy(to: end)
    let kind = redaction.names.kind(of: name)
    let value = (bytes[end...].firstIndex { $0 > 0x20 } ?? bytes.count) + 1
    guard kind == .secret || kind == .plural, let start = tagEnd(from: value) else { return }
    let element = bytes[value...].prefix(while: Self.isElementByte)
    guard bytes[value - 1] == UInt8(ascii: "<"), !element.isEmpty, bytes[start - 2] != UInt8(ascii: "/") else { return }
    copy(to: start)
    let shown =
      switch String(decoding: element, as: UTF8.self) {
      case "string": "&lt;redacted&gt;"
      case "integer", "real": "0"
      default: ""
      }
    replace(to: tags.end(of: element, from: start) ?? bytes.count, with: Array(shown.utf8))
  }

  private func tagEnd(from place: Int) -> Int? {
    guard place < bytes.count,
      let end = bytes[place...].firstIndex(where: { $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "<") }),
      bytes[end] == UInt8(ascii: ">")
    else { return nil }
    return end + 1
  }
}
