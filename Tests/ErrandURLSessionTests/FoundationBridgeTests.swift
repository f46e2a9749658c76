import Errand
import ErrandURLSession
import Foundation
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(1))) struct FoundationBridgeTests {
  private func url(_ text: String = "https://example.com/a?b=1") throws -> URL { try #require(URL(string: text)) }

  @Test func `converts a request's method, headers and body to Foundation`() throws {
    let request = HTTPRequest(
      .put, try url(), headers: ["Accept": "text/plain", "X-One": "1", "X-One": "2"], body: .text("hello"))
    let bridged = try URLRequest(request)
    #expect(bridged.url?.absoluteString == "https://example.com/a?b=1")
    #expect(bridged.httpMethod == "PUT")
    #expect(bridged.value(forHTTPHeaderField: "accept") == "text/plain")
    #expect(bridged.value(forHTTPHeaderField: "X-One") == "1, 2")
    #expect(bridged.httpBody == Data("hello".utf8))
  }

  @Test func `joins Cookie lines with semicolons`() throws {
    let request = HTTPRequest(.get, try url(), headers: ["Cookie": "a=1", "Cookie": "b=2"])
    #expect(try URLRequest(request).value(forHTTPHeaderField: "Cookie") == "a=1; b=2")
  }

  @Test func `rejects a request with a streamed body`() throws {
    let request = HTTPRequest(.post, try url(), body: .stream { AsyncStream<Data> { $0.finish() } })
    #expect { try URLRequest(request) } throws: { ($0 as? TaskError)?.code == .unreadableBody }
  }

  @Test func `rejects a request whose body file is missing`() throws {
    let request = HTTPRequest(.post, try url(), body: .file(URL(fileURLWithPath: "/nowhere/at/all")))
    #expect { try URLRequest(request) } throws: { ($0 as? TaskError)?.code == .unreadableBody }
  }

  @Test func `converts a Foundation request and sorts its headers by name`() throws {
    var foreign = URLRequest(url: try url())
    foreign.httpMethod = "PATCH"
    foreign.setValue("2", forHTTPHeaderField: "X-Two")
    foreign.setValue("1", forHTTPHeaderField: "A-One")
    foreign.httpBody = Data("body".utf8)
    let request = try HTTPRequest(foreign)
    #expect(request.method == .patch)
    #expect(request.headers.map(\.name.rawName) == ["A-One", "X-Two"])
    #expect(request.body.data == Data("body".utf8))
    #expect(request.url == foreign.url)
  }

  @Test func `rejects a Foundation request without a URL`() throws {
    var foreign = URLRequest(url: try url())
    foreign.url = nil
    #expect { try HTTPRequest(foreign) } throws: { ($0 as? TaskError)?.code == .badURL }
  }

  @Test func `rejects a Foundation request with a body stream`() throws {
    var foreign = URLRequest(url: try url())
    foreign.httpBodyStream = InputStream(data: Data("body".utf8))
    #expect { try HTTPRequest(foreign) } throws: { ($0 as? TaskError)?.code == .unreadableBody }
  }

  @Test func `converts a response to Foundation and joins repeated headers`() throws {
    let response = HTTPResponse(
      404, url: try url(), headers: ["Vary": "Accept", "vary": "Origin", "ETag": "\"1\""], version: .http1_1)
    let bridged = try #require(HTTPURLResponse(response, url: response.url))
    #expect(bridged.statusCode == 404)
    #expect(bridged.value(forHTTPHeaderField: "Vary") == "Accept, Origin")
    #expect(bridged.value(forHTTPHeaderField: "etag") == "\"1\"")
    #expect(bridged.url == response.url)
  }

  @Test func `converts a Foundation response with its body`() async throws {
    let foreign = try #require(
      HTTPURLResponse(url: try url(), statusCode: 201, httpVersion: nil, headerFields: ["Location": "/x"]))
    let response = try #require(HTTPResponse(foreign, body: HTTPResponseBody(Data("made".utf8))))
    #expect(response.status == .created)
    #expect(response.headers[.location] == "/x")
    #expect(try await response.body.collect() == Data("made".utf8))
  }

  @Test func `splits Set-Cookie lines that Foundation has joined`() throws {
    let dated = "a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/"
    let joined = "\(dated), b=2, c=3; Expires=Thu, 22-Oct-26 07:28:00 GMT, d="
    let foreign = try #require(
      HTTPURLResponse(url: try url(), statusCode: 200, httpVersion: nil, headerFields: ["Set-Cookie": joined]))
    let lines = try #require(HTTPResponse(foreign)).headers.values(for: .setCookie)
    #expect(lines == [dated, "b=2", "c=3; Expires=Thu, 22-Oct-26 07:28:00 GMT", "d="])
  }
}
