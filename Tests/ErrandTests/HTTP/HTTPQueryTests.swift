import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct HTTPQueryTests {
  @Test func `writes items in order and keeps repeated names`() {
    var query: HTTPQuery = ["b": "1", "a": "2", "b": "3"]
    query.add("c", "")
    #expect(query.encoded == "b=1&a=2&b=3&c=")
    #expect(HTTPQuery().isEmpty && HTTPQuery().encoded.isEmpty)
  }

  @Test func `omits nil values and writes an item without a value as a bare name`() {
    var query: HTTPQuery = ["a": nil, "b": "1"]
    query.add("c", nil)
    query.items.append(HTTPQuery.Item("flag", nil))
    #expect(query.encoded == "b=1&flag")
    #expect(HTTPQuery([("x", nil), ("y", "2")]).encoded == "y=2")
  }

  @Test func `writes numbers, Booleans and optional values`() {
    let (text, none): (String?, Int?) = ("é", nil)
    var query: HTTPQuery = ["id": 7, "price": 1.5, "sold": false, "q": text, "page": none, "part": "a-b".prefix(1)]
    query.add("limit", 20)
    #expect(query.encoded == "id=7&price=1.5&sold=false&q=%C3%A9&part=a&limit=20")
  }

  @Test func `reads and replaces the values of a name`() {
    var query: HTTPQuery = ["a": "1", "b": "2", "a": "3"]
    #expect(query["a"] == "1" && query.values(for: "a") == ["1", "3"] && query["none"] == nil)
    query["a"] = "4"
    query["c"] = "5"
    #expect(query.encoded == "a=4&b=2&c=5")
    query["b"] = nil
    #expect(query.encoded == "a=4&c=5")
  }

  @Test(arguments: [
    ("a+b", "a%2Bb"), ("a b", "a%20b"), ("a&b=c", "a%26b%3Dc"), ("50%", "50%25"), ("é", "%C3%A9"), ("a#b?", "a%23b%3F"),
    ("-._~", "-._~"), ("\r\n\0", "%0D%0A%00"), ("🧵", "%F0%9F%A7%B5"), ("%41", "%2541"),
  ])
  func `escapes all but unreserved characters`(plain: String, escaped: String) {
    #expect(HTTPQuery([.init(plain, plain)]).encoded == "\(escaped)=\(escaped)")
  }

  @Test func `every value survives encoding and parsing`() async throws {
    let text = String(String.UnicodeScalarView((0...0x2FF).compactMap(Unicode.Scalar.init)))
    let stub = StubServer(.status(.ok))
    try await PlainTask(query: ["q": text]).on(stub.server).run()
    let url = try #require(stub.requests.first?.url)
    let items = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems
    #expect(items?.first?.value == text)
  }

  @Test func `sorts the entries of a dictionary by name and omits nil`() {
    let words = ["b": "1", "a": "2"]
    let perhaps: [String: String?] = ["b": "1", "a": nil]
    #expect(HTTPQuery(words).encoded == "a=2&b=1" && HTTPQuery(perhaps).encoded == "b=1")
  }
}
