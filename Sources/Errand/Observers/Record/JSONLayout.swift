/// Formats JSON with one member per line.
struct JSONLayout {
  private var bytes: [UInt8] = []
  private var depth = 0

  /// Returns the formatted text, or the text unchanged if it is not JSON.
  static func laidOut(_ text: String) -> String {
    guard text.beginsAsJSON else { return text }
    var layout = JSONLayout()
    return layout.lay(out: Array(text.utf8)) ? String(decoding: layout.bytes, as: UTF8.self) : text
  }

  /// Formats `text`. Returns `false` if it is not JSON.
  private mutating func lay(out text: [UInt8]) -> Bool {
    var index = 0
    while index < text.count {
      let byte = text[index]
      index += 1
      switch byte {
      case 0x20, 0x09, 0x0A, 0x0D: continue
      case _ where depth == 0 && !bytes.isEmpty: return false
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        bytes.append(byte)
        let next = text[index...].firstIndex { $0 > 0x20 } ?? text.count
        if next < text.count, text[next] == byte + 2 {  // the matching bracket
          bytes.append(text[next])
          index = next + 1
        } else {
          depth += 1
          breakLine()
        }
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        breakLine()
        bytes.append(byte)
      case UInt8(ascii: ","):
        bytes.append(byte)
        breakLine()
      case UInt8(ascii: ":"): bytes.append(contentsOf: ": ".utf8)
      default:
        let isString = byte == UInt8(ascii: "\"")
        let end = isString ? Self.end(ofStringAt: index - 1, in: text) : Self.end(ofWordAt: index - 1, in: text)
        guard isString || Self.isValue(text[(index - 1)..<end]) else { return false }
        bytes.append(contentsOf: text[(index - 1)..<end])
        index = end
      }
    }
    return depth == 0
  }

  private static func end(ofWordAt start: Int, in text: [UInt8]) -> Int {
    text[start...].firstIndex { $0 <= 0x20 || "{}[],:\"".utf8.contains($0) } ?? text.count
  }

  private static func isValue(_ word: ArraySlice<UInt8>) -> Bool {
    let isNumber = word.first.map { $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0) } ?? false
    return isNumber || ["true", "false", "null"].contains { word.elementsEqual($0.utf8) }
  }

  private static func end(ofStringAt start: Int, in text: [UInt8]) -> Int {
    var index = start + 1
    while index < text.count, text[index] != UInt8(ascii: "\"") { index += text[index] == UInt8(ascii: "\\") ? 2 : 1 }
    return min(index + 1, text.count)
  }

  private mutating func breakLine() {
    bytes.append(0x0A)
    // Limit the indentation: the sender controls the depth, and the output should stay proportional to the input.
    for _ in 0..<min(max(depth, 0), 16) { bytes.append(contentsOf: "  ".utf8) }
  }
}
