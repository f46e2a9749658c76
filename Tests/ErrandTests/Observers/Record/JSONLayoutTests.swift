import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct JSONLayoutTests {
  @Test(arguments: [
    (
      #"{"a":1,"b":[true,null],"c":{},"d":[ ],"e":"x, {y}: \"z\""}"#,
      """
      {
        "a": 1,
        "b": [
          true,
          null
        ],
        "c": {},
        "d": [],
        "e": "x, {y}: \\"z\\""
      }
      """
    ),
    ("[ 1 ,2\n]", "[\n  1,\n  2\n]"), ("[]", "[]"), ("{a=b, c}", "{a=b, c}"), ("[1] [2]", "[1] [2]"),
    ("[see a]", "[see a]"), ("[1", "[1"), ("{\"a\":\"b", "{\"a\":\"b"), ("text", "text"),
    ("", ""),
  ])
  func `formats only valid JSON`(text: String, expected: String) {
    #expect(JSONLayout.laidOut(text) == expected)
  }

  @Test func `limits the size of deeply nested output`() {
    let text = String(repeating: "[", count: 400) + "1" + String(repeating: "]", count: 400)
    let laidOut = JSONLayout.laidOut(text)
    #expect(laidOut.utf8.count < 50 * text.utf8.count && laidOut.filter { !$0.isWhitespace } == text)
  }
}
