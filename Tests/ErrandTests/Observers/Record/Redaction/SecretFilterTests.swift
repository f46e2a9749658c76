import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct SecretFilterTests {
  private static let pieces = [
    "token", "pass", "word", "passw", "Api", "Key", "key", "code", "sig", "secret", "sec", "ret", "id", "name", "x",
    "Session", "a", "1", "jwt", "_", "-", ".", ":", "=", "\"", "'", "{", "}", "[", "]", "<", ">", "/", "//", "?", "&",
    "#", ",", " ", "\n", "@", "%40", "%3D", "%25", "\\u0077", "\\", "é", "\u{212A}ey", "\0", "+", ";", "https://",
    "user:pw@",
    "\":\"", "\": ", "=v&", "</",
  ]

  @Test(arguments: 0..<20)
  func `a full redaction does not change text that the filter clears`(_ seed: Int) {
    var chance = SeededGenerator(seed: UInt64(seed))
    let policies = [
      Redaction.standard, .none, Redaction(headers: [], fields: ["name", "x1"], fragments: ["ret", "ses_sion"]),
    ]
    var cleared = 0
    for _ in 0..<3000 {
      let text = (0..<Int.random(in: 1...12, using: &chance)).map { _ in
        Self.pieces.randomElement(using: &chance) ?? ""
      }.joined()
      for policy in policies {
        // Use the filter directly, because `names.clears` clears no text after another test has learned a name.
        guard policy.names.filter.clears(text) else { continue }
        cleared += 1
        #expect(policy.inFull(text: text) == text && policy.inFull(address: text) == text, "\(text)")
        for type in [MediaType.json, .form, .plainText] {
          #expect(policy.inFull(body: text, type) == text, "\(type): \(text)")
        }
      }
    }
    #expect(cleared > 1000)
  }

  @Test func `clears common text, but not text with secret names`() {
    for text in [
      "https://shop.test/widgets/7?page=2&sort=price", "Mon, 23 Nov 2026 01:46:16 GMT", "text/html; charset=utf-8",
      #"{"id":1,"name":"widget","price":9.99,"tags":["a","b"],"active":true}"#, "GetWidget", "Errand/0.1 (Linux)",
    ] {
      #expect(Redaction.standard.names.filter.clears(text), "\(text)")
    }
    for text in ["key", "a.key=1", "X-Api_Key", "subscription-key", "me@test", "50%", "\\", "é", "oAuthTOKENs"] {
      #expect(!Redaction.standard.names.filter.clears(text), "\(text)")
    }
    // The filter can't search for this custom name, so it clears no text.
    #expect(!Redaction(headers: [], fields: ["a b"]).names.filter.clears("x"))
    #expect(!Redaction(headers: [], fields: [], fragments: ["k"]).names.filter.clears("x"))
  }
}
