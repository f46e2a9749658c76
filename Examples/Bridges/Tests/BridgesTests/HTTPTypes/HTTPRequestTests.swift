import Errand
import ErrandHTTPTypes
import Foundation
import HTTPTypes
import Testing

struct HTTPRequestTests {
  private typealias Theirs = HTTPTypes.HTTPRequest
  private typealias Ours = Errand.HTTPRequest

  private static func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

  private static func field(_ name: String, _ value: String) throws -> HTTPField {
    HTTPField(name: try #require(HTTPField.Name(name)), value: value)
  }

  @Test func `converts method, URL and fields, in order and with duplicates`() throws {
    let headers: HTTPHeaders = ["X-One": "1", "Accept": "a", "accept": "b", "X-Empty": ""]
    let request = Ours(.put, try Self.url("https://Shop.example:8443/a%20b/?q=1&q=%26#part"), headers: headers)
    let theirs = try Theirs(request)
    #expect(theirs.method == .put)
    #expect(theirs.scheme == "https")
    #expect(theirs.authority == "shop.example:8443")
    #expect(theirs.path == "/a%20b/?q=1&q=%26")
    #expect(theirs.headerFields.map(\.name.rawName) == ["X-One", "Accept", "accept", "X-Empty"])
    #expect(theirs.headerFields.map(\.value) == ["1", "a", "b", ""])

    let back = try Ours(theirs, body: .text("body"))
    #expect(back.method == .put)
    #expect(back.url.absoluteString == "https://shop.example:8443/a%20b/?q=1&q=%26")
    #expect(back.headers == headers)
    #expect(back.body.data == Data("body".utf8))
  }

  @Test(arguments: [
    ("https://shop.example", "shop.example", "/"), ("https://shop.example:443/", "shop.example", "/"),
    ("http://shop.example:80?q=", "shop.example", "/?q="), ("http://[::1]:8080/x", "[::1]:8080", "/x"),
  ]) func `the authority omits the default port, and an empty path becomes a slash`(
    _ url: String, _ authority: String, _ path: String
  ) throws {
    let theirs = try Theirs(Ours(.get, try Self.url(url)))
    #expect(theirs.authority == authority)
    #expect(theirs.path == path)
  }

  @Test func `a matching Host becomes the authority, and any other is rejected`() throws {
    let url = try Self.url("https://shop.example/")
    let theirs = try Theirs(Ours(.get, url, headers: ["Host": "SHOP.example", "X-One": "1"]))
    #expect(theirs.authority == "shop.example")
    #expect(theirs.headerFields.map(\.name.rawName) == ["X-One"])
    #expect(try Theirs(Ours(.get, url, headers: ["Host": "shop.example:443"])).authority == "shop.example")
    for host in ["other.example", "shop.example:80", "shop.example/a", "me@shop.example", ""] {
      Self.expect(.badRequest) { _ = try Theirs(Ours(.get, url, headers: ["Host": host])) }
    }
  }

  @Test(arguments: [
    "ftp://shop.example/", "/widgets", "https://user:hunter2@shop.example/", "https://user@shop.example/",
  ])
  func `rejects a URL that cannot be represented`(_ url: String) throws {
    let request = Ours(.get, try Self.url(url))
    let error = Self.expect(.badURL) { _ = try Theirs(request) }
    #expect(error?.description.contains("hunter2") == false)
  }

  @Test(arguments: [HTTPMethod.automatic, .connect, "NOT A TOKEN"])
  func `rejects a method that cannot be represented`(_ method: HTTPMethod) throws {
    let request = Ours(method, try Self.url("https://shop.example/"))
    Self.expect(.badRequest) { _ = try Theirs(request) }
  }

  @Test(arguments: [
    HTTPHeaders.Field("X Bad", "hunter2"), .init("", "hunter2"), .init("X-Bad", "hunter2\r\nX: y"),
    .init("X-Bad", "hunter2 "), .init(":path", "hunter2"),
  ]) func `rejects a field that would be changed, naming only the field`(_ field: HTTPHeaders.Field) throws {
    let request = Ours(.get, try Self.url("https://shop.example/"), headers: HTTPHeaders([field]))
    let error = Self.expect(.badRequest) { _ = try Theirs(request) }
    #expect(error?.description.contains("hunter2") == false)
    #expect(error?.reason == "HTTPTypes can't represent the field '\(field.name)'")
  }

  @Test func `joins split cookies`() throws {
    var theirs = Theirs(method: .get, scheme: "https", authority: "shop.example", path: "/")
    theirs.headerFields.append(try Self.field("cookie", "a=1"))
    theirs.headerFields.append(try Self.field("accept", "*/*"))
    theirs.headerFields.append(try Self.field("cookie", "b=2"))
    let headers = try Ours(theirs).headers
    #expect(headers.values(for: .cookie) == ["a=1; b=2"])
    #expect(headers.map(\.name) == [.cookie, .accept])
  }

  @Test(arguments: [
    ("https", "shop.example", ".evil.test/"), ("https", "shop.example/..@evil.test", "/"),
    ("https", "u@shop.example", "/"),
    ("https", "", "/"), ("ftp", "shop.example", "/"), ("https", "shop.example", "*"), ("https", "shop.example#", "/"),
    ("https", "shop.example", "/a#b?x=1"), ("https", "shop.example", "/a b"), ("https", "shop.example", "/a?b|c"),
  ]) func `rejects pseudo-header fields that form no URL`(_ scheme: String, _ authority: String, _ path: String) {
    let theirs = Theirs(method: .get, scheme: scheme, authority: authority, path: path)
    Self.expect(.badURL) { _ = try Ours(theirs) }
  }

  @Test func `rejects missing pseudo-header fields`() {
    Self.expect(.badURL) { _ = try Ours(Theirs(method: .get, scheme: nil, authority: "shop.example", path: "/")) }
    Self.expect(.badURL) { _ = try Ours(Theirs(method: .get, scheme: "https", authority: nil, path: "/")) }
    Self.expect(.badURL) { _ = try Ours(Theirs(method: .get, scheme: "https", authority: "shop.example", path: nil)) }
  }

  @Test func `rejects CONNECT and extended CONNECT`() {
    var theirs = Theirs(method: .connect, scheme: "https", authority: "shop.example", path: "/")
    Self.expect(.badRequest) { _ = try Ours(theirs) }
    theirs.method = .get
    theirs.extendedConnectProtocol = "websocket"
    Self.expect(.badRequest) { _ = try Ours(theirs) }
  }

  @Test func `rejects a value that is not UTF-8`() throws {
    var theirs = Theirs(method: .get, scheme: "https", authority: "shop.example", path: "/")
    let name = try #require(HTTPField.Name("X-Latin"))
    theirs.headerFields.append(HTTPField(name: name, value: [0x63, 0x61, 0x66, 0xE9]))
    let error = Self.expect(.badRequest) { _ = try Ours(theirs) }
    #expect(error?.reason == "the value of the field 'X-Latin' is not UTF-8")
  }

  @discardableResult
  private static func expect(_ code: TaskError.Code, _ body: () throws -> Void) -> TaskError? {
    let error = #expect(throws: TaskError.self) { try body() }
    #expect(error?.code == code)
    #expect(error?.wasNotSent == true)
    return error
  }
}
