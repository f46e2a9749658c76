import Errand
import ErrandTesting
import Foundation
import Testing

@Suite struct HTTPQueryTests {
  @Test func `items are written in order and names may repeat`() {
    var query: HTTPQuery = ["b": "1", "a": "2", "b": nil]
    query.add("c", "")
    #expect(query.encoded == "b=1&a=2&b&c=")
    #expect(HTTPQuery().isEmpty && HTTPQuery().encoded.isEmpty)
  }

  @Test(arguments: [
    ("a+b", "a%2Bb"), ("a b", "a%20b"), ("a&b=c", "a%26b%3Dc"), ("50%", "50%25"), ("é", "%C3%A9"), ("a#b?", "a%23b%3F"),
    ("-._~", "-._~"), ("\r\n\0", "%0D%0A%00"), ("🧵", "%F0%9F%A7%B5"), ("%41", "%2541"),
  ])
  func `everything but the unreserved characters is escaped`(plain: String, escaped: String) {
    #expect(HTTPQuery([.init(plain, plain)]).encoded == "\(escaped)=\(escaped)")
  }

  @Test func `a form has the fields in order, escaped, under its media type`() async throws {
    let stub = StubServer(.status(.ok))
    try await URLTask(.known("https://shop.test/"), body: .form(["user": "a&b", "keep": nil])).on(stub.server).run()
    let request = try #require(stub.requests.first)
    #expect(request.method == .post && request.body.data == Data("user=a%26b&keep".utf8))
    #expect(request.headers[.contentType] == "application/x-www-form-urlencoded" && request.body.isReplayable)
  }

  @Test func `a part of a path arrives as it was given`() async throws {
    let stub = StubServer(.status(.ok))
    try await PlainTask(path: "users/\(HTTPQuery.escaped("a/b?c#d%20"))").on(stub.server).run()
    #expect(stub.urls == ["https://shop.test/users/a%2Fb%3Fc%23d%2520"])
  }

  @Test func `every value arrives as it was given`() async throws {
    let text = String(String.UnicodeScalarView((0...0x2FF).compactMap(Unicode.Scalar.init)))
    let stub = StubServer(.status(.ok))
    try await PlainTask(query: ["q": text]).on(stub.server).run()
    let url = try #require(stub.requests.first?.url)
    let items = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems
    #expect(items?.first?.value == text)
  }
}
