import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct PercentDecodingTests {
  @Test(arguments: [
    "", "plain", "a%20b", "%C3%BC", "%c3%bc", "100%25", "%00", "ü%C3%BC", "a%2", "%", "%zz", "%FF", "%C3",
  ])
  func `decodes text as Foundation does`(text: String) {
    #expect(text.percentDecoded == text.removingPercentEncoding)
    #expect(text[...].percentDecoded == text.removingPercentEncoding)
  }
}
