/// Hides a JSON value but keeps its structure, so that it can still be decoded into the same type.
///
/// Strings become ``Redaction/mark`` and numbers become 0. `true`, `false` and `null` are kept, because they don't
/// reveal anything. Object keys are kept if they look like names. The input does not have to be valid JSON. Runs in
/// linear time.
struct HiddenValue {
  private(set) var shown: [UInt8] = []
  /// The position after the value.
  private(set) var end: Int

  private let bytes: [UInt8]
  /// The quotation mark around strings. If the value is inside a string, this includes the number of backslashes before
  /// the mark.
  private let quote: TextRedactor.Quote
  /// Whether numbers outside arrays are shown.
  private let keepsNumbers: Bool
  private var hasArray = false

  init(_ bytes: [UInt8], from start: Int, quote: TextRedactor.Quote, keepsNumbers: Bool) {
    self.bytes = bytes
    self.quote = quote
    self.keepsNumbers = keepsNumbers
    end = start
    hide()
  }

  private mutating func hide() {
    var depth = 0
    while end < bytes.count {
      switch bytes[end] {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        if bytes[end] == UInt8(ascii: "[") { hasArray = true }
        copy(to: end + 1)
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        guard depth > 0 else { return }
        depth -= 1
        copy(to: end + 1)
      case UInt8(ascii: ","), 0x0A, 0x0D:
        guard depth > 0 else { return }
        copy(to: end + 1)
      case UInt8(ascii: ":"), 0x09, 0x20: copy(to: end + 1)
      case UInt8(ascii: "\\"), quote.mark:
        guard let start = textStart else { return }  // the surrounding string ends
        text(from: start, isMember: depth > 0)
      default: literal()
      }
      if depth == 0, let last = shown.last, last > 0x20, last != UInt8(ascii: ":") { return }
    }
  }

  private mutating func copy(to place: Int) {
    shown.append(contentsOf: bytes[end..<place])
    end = place
  }

  /// The position after this quotation mark. `nil` if the mark ends the string around the value.
  private var textStart: Int? {
    let mark = bytes[end...].firstIndex { $0 != UInt8(ascii: "\\") } ?? bytes.count
    guard mark < bytes.count, bytes[mark] == quote.mark else { return bytes.count }
    return mark - end < quote.escapes ? nil : mark + 1
  }

  /// Hides a string, unless it is the name of a member.
  private mutating func text(from start: Int, isMember: Bool) {
    let (close, isClosed) = textEnd(from: start)
    let behind = isClosed ? close + quote.escapes + 1 : close
    let next = bytes[min(behind, bytes.count)...].first { !" \t\r\n".utf8.contains($0) }
    if isMember, next == UInt8(ascii: ":"), Self.isName(bytes[min(start, close)..<close]) { return copy(to: behind) }
    putMark()
    end = behind
  }

  private mutating func putMark() {
    let mark = Array(repeating: UInt8(ascii: "\\"), count: quote.escapes) + [quote.mark]
    shown += mark + Redaction.mark.utf8 + mark
  }

  private func textEnd(from start: Int) -> (Int, isClosed: Bool) {
    guard start < bytes.count else { return (bytes.count, false) }
    var run = 0
    for index in start..<bytes.count {
      if bytes[index] == UInt8(ascii: "\\") {
        run += 1
      } else {
        if bytes[index] == quote.mark {
          if run < quote.escapes { return (index - run, false) }
          // Each escaped backslash takes up this many bytes.
          if (run - quote.escapes).isMultiple(of: 2 * (quote.escapes + 1)) { return (index - quote.escapes, true) }
        }
        run = 0
      }
    }
    return (bytes.count, false)
  }

  private mutating func literal() {
    let close = bytes[end...].firstIndex { ",}]\n\r\\".utf8.contains($0) || $0 == quote.mark } ?? bytes.count
    let word = bytes[end..<close]
    let behind = (word.lastIndex { $0 > 0x20 } ?? end) + 1
    let kind = bytes[end..<behind]
    if Self.constants.contains(Array(kind)) { return copy(to: behind) }
    if Self.isNumber(kind) {
      guard !keepsNumbers || hasArray else { return copy(to: behind) }
      shown.append(UInt8(ascii: "0"))
    } else {
      putMark()
    }
    end = behind
  }

  private static let constants = Set(["true", "false", "null"].map { Array($0.utf8) })

  private static func isNumber(_ word: ArraySlice<UInt8>) -> Bool {
    word.allSatisfy { (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }
      && word.contains { (0x30...0x39).contains($0) }
  }

  /// Whether the word looks like a name. Object keys can be secrets too, but those contain digits.
  private static func isName(_ word: ArraySlice<UInt8>) -> Bool {
    word.count <= 32
      && word.allSatisfy { (0x61...0x7A).contains($0 | 0x20) || "_-.$".utf8.contains($0) }
  }
}
