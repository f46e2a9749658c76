import Errand
import Foundation
import Testing

@Suite struct RedactionTests {
  private let redaction = Redaction.standard

  private func text(_ body: String, _ type: MediaType = .json) -> String {
    redaction.body(Data(body.utf8), type: type, limit: 1 << 20)
  }

  @Test func `secret header fields are hidden, one by one`() {
    let headers = redaction(["authorization": "Bearer s3cret", "Set-Cookie": "a", "set-cookie": "b", "Accept": "c"])
    #expect(headers.map(\.value) == ["<redacted>", "<redacted>", "<redacted>", "c"])
  }

  @Test(arguments: [
    ("https://u:s3cret@a.test/x", "https://<redacted>@a.test/x"),
    ("https://s3cret@a.test", "https://<redacted>@a.test"),
    ("https://a.test/@x?q=@", "https://a.test/@x?q=@"),
    (
      "https://a.test/?token=s3cret&page=2&Access_Token=s3cret",
      "https://a.test/?token=<redacted>&page=2&Access_Token=<redacted>"
    ),
    ("https://a.test/?%74oken=s3cret", "https://a.test/?%74oken=<redacted>"),
    ("https://a.test/?q=1&key", "https://a.test/?q=1&key=<redacted>"),
    ("https://a.test/x", "https://a.test/x"),
    ("https://u:s3cret@a.test?sig=s3cret#f", "https://<redacted>@a.test?sig=<redacted>"),
  ])
  func `user, password and secret query values are hidden in a URL`(url: String, expected: String) throws {
    #expect(redaction(try #require(URL(string: url))) == expected)
  }

  @Test(arguments: [
    (#"{"password":"s3cret","name":"x"}"#, #"{"password":"<redacted>","name":"x"}"#),
    (
      #"{"a":{"Access_Token" : "s3\"cret"},"b":[{"key":12.5}]}"#,
      #"{"a":{"Access_Token" : "<redacted>"},"b":[{"key":"<redacted>"}]}"#
    ),
    (#"{"token":null,"secret":true}"#, #"{"token":"<redacted>","secret":"<redacted>"}"#),
    (#"{"password":"s3cre"#, #"{"password":"<redacted>""#),
    (#"{"password":"s3cre\"#, #"{"password":"<redacted>""#),
    (#"{"note":"password"}"#, #"{"note":"password"}"#),
    (#"{"a":"\"token\":\"b"}"#, #"{"a":"\"token\":\"b"}"#),
  ])
  func `secret members of JSON are hidden, also where it is cut off`(body: String, expected: String) {
    #expect(text(body) == expected)
  }

  @Test(arguments: [
    #"{"password":["s3cret","s3cret"]}"#, #"{"token":{"value":"s3cret"},"name":"x"}"#,
    #"{"secret":[["s3cret"],{"a":"s3cret"}"#,
    #"{"pass\u0077ord":"s3cret"}"#, "{\"password\":\n\t[ \"s3cret\" ]}",
  ])
  func `whatever a secret member holds is hidden, and however its name is written`(body: String) {
    #expect(!text(body).contains("s3cret"))
  }

  @Test func `secret fields of a form are hidden`() {
    #expect(
      text("user=a&password=s3cret&client%5Fsecret=s3cret", .form)
        == "user=a&password=<redacted>&client%5Fsecret=<redacted>")
  }

  @Test func `what is not for people, or too large, has a placeholder`() {
    #expect(redaction.body(Data([0xFF, 0xFE]), type: nil, limit: 10) == "<2 bytes of data>")
    #expect(redaction.body(Data([1, 2]), type: "image/png", limit: 10) == "<2 bytes of image/png>")
    #expect(redaction.body(Data(count: 11), type: .json, limit: 10) == "<11 bytes, more than the 10 that are logged>")
    #expect(redaction.body(Data(), type: .json, limit: 10) == "")
  }

  @Test func `names of one's own are compared without regard to case`() {
    let own = Redaction(headers: ["X-Mine"], fields: ["PIN"])
    #expect(own(["x-mine": "1"])["X-Mine"] == Redaction.mark)
    #expect(own.body(Data(#"{"pin":1}"#.utf8), type: .json, limit: 100) == #"{"pin":"<redacted>"}"#)
  }

  @Test func `nothing is hidden where that was asked for, but for the password in a URL`() {
    #expect(Redaction.none(["Authorization": "a"])["Authorization"] == "a")
    #expect(Redaction.none.body(Data(#"{"password":"a"}"#.utf8), type: .json, limit: 100) == #"{"password":"a"}"#)
  }

  @Test func `a large body is redacted in time that grows with its size`() {
    let body = "{" + (0..<20_000).map { "\"name\($0)\":\"value\"" }.joined(separator: ",") + ",\"password\":\"s3cret\"}"
    #expect(!text(body).contains("s3cret"))
  }
}
