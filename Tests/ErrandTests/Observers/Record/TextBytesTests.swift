import ErrandFoundation
import Testing

@testable import Errand

/// Text built piece by piece.
@Suite(.timeLimit(.minutes(1))) struct TextBytesTests {
  @Test(arguments: [0, 1, 9, 10, 42, 99, 100, 101, 999, 1000, 65_535, 1_000_000, 999_999_999_999, UInt.max])
  func `writes numbers with leading zeros`(value: UInt) {
    for count in [1, 2, 3, 6, 19, 20, 21, 40] {
      var text = TextBytes(capacity: 1)
      text.digits(value, atLeast: count)
      let plain = String(value)
      #expect(text.text == String(repeating: "0", count: max(0, count - plain.count)) + plain)
    }
  }

  @Test func `writes the sign of negative numbers`() {
    var text = TextBytes()
    for value in [-1, 0, 10, Int.min, Int.max] {
      text.number(value)
      text.raw(" ")
    }
    #expect(text.text == "-1 0 10 \(Int.min) \(Int.max) ")
  }

  @Test func `truncates durations after the last printed digit`() {
    var text = TextBytes()
    text.seconds(.microseconds(1_234_999))
    text.raw(" ")
    text.preciseSeconds(.nanoseconds(61_000_007_999))
    text.raw(" ")
    text.preciseSeconds(.seconds(-1))
    #expect(text.text == "1.234 s 61.000007 0")
  }

  @Test func `joins chunks of any size with any initial capacity`() {
    for capacity in [0, 1, 7, 1000] {
      var text = TextBytes(capacity: capacity)
      var plain = ""
      for size in [0, 1, 2, 15, 16, 17, 300, 0, 5000] {
        let piece = String("abcdefghij\(String(repeating: "k", count: size))".prefix(size))
        text.add(piece)
        text.byte(0x0A)
        text.hex(0x0123_4567_89ab_cdef)
        plain += piece + "\n0123456789abcdef"
      }
      #expect(text.text == plain && text.count == plain.utf8.count && text.bytes == Array(plain.utf8))
      text.removeAll()
      text.raw("new")
      #expect(text.text == "new")
    }
  }

  @Test func `JSON strings decode to the original text`() throws {
    let odd = "a \"quote\" \\ \u{0}\u{1F}\n\t</script> ✓ 🙂 é"
    var text = TextBytes()
    text.quoted(odd, escaping: UInt8(ascii: "<"))
    #expect(!text.bytes.contains(UInt8(ascii: "<")))
    #expect(try JSONDecoder().decode(String.self, from: Data(text.bytes)) == odd)
  }

  @Test(arguments: [
    ("\"", #"\""#), ("\\", #"\\"#), ("\u{0}", #"\u0000"#), ("\u{1F}", #"\u001f"#), ("<", #"\u003c"#), ("\n", #"\n"#),
    (" ", " "), ("!", "!"), ("\u{7F}", "\u{7F}"), ("é", "é"), ("🙂", "🙂"),
  ])
  func `escapes only the characters that require escaping, at any offset`(sign: String, escaped: String) {
    for (before, after) in (0..<20).flatMap({ before in [0, 1, 7, 8, 9].map { (before, $0) } }) {
      let (start, end) = (String(repeating: "a", count: before), String(repeating: "b", count: after))
      var text = TextBytes(capacity: 1)
      text.quoted(start + sign + end + sign, escaping: UInt8(ascii: "<"))
      #expect(text.text == "\"\(start)\(escaped)\(end)\(escaped)\"")
    }
  }
}
