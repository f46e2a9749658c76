import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct MockServerRoutesTests {
  @Test func `a route answers only its method and path`() throws {
    let server = try MockServer()
    server.route(.get, "/widgets/:id") { .text("widget \($0.parameters["id"] ?? "")") }
    let client = try PlainClient(server)
    #expect(try client.get("/widgets/7").body == "widget 7")
    #expect(try client.get("/widgets/7?x=1").body == "widget 7")
    #expect(try client.get("/widgets").head.hasPrefix("HTTP/1.1 404 "))
    #expect(try client.get("/widgets/7/parts").head.hasPrefix("HTTP/1.1 404 "))
    #expect(try client.get("/widgets/7", method: "DELETE").head.hasPrefix("HTTP/1.1 404 "))
  }

  @Test func `a route without a method answers every method`() throws {
    let server = try MockServer()
    server.route("/x") { .text($0.method.rawValue) }
    let client = try PlainClient(server)
    for method in ["GET", "DELETE", "PURGE"] { #expect(try client.get("/x", method: method).body == method) }
  }

  @Test func `the last matching route takes precedence`() throws {
    let server = try MockServer()
    server.route("/*") { .text("any: \($0.parameters["*"] ?? "")") }
    server.route(.get, "/x", answer: .text("first"))
    server.route(.get, "/x", answer: .text("second"))
    server.route(.post, "/x", answer: .text("post"))
    let client = try PlainClient(server)
    #expect(try client.get("/x").body == "second")
    #expect(try client.get("/deep/down").body == "any: deep/down")
  }

  @Test func `an unknown path gets a 404 that lists the routes`() throws {
    let server = try MockServer()
    let client = try PlainClient(server)
    #expect(try client.get("/").body == "No route for GET /. Known routes: none.")
    server.route(.get, "/a", answer: .status(.ok))
    server.route("/b", answer: .status(.ok))
    let answer = try client.get("/c?d=e")
    #expect(answer.head.hasPrefix("HTTP/1.1 404 Not Found\r\n"))
    #expect(answer.body == "No route for GET /c. Known routes: GET /a, any /b.")
  }

  @Test func `uses queued answers in order, before any route`() throws {
    let server = try MockServer()
    server.route("/x", answer: .text("route"))
    server.enqueue(.status(503, headers: ["Retry-After": "1"]))
    server.enqueue(.text("second"))
    let client = try PlainClient(server)
    #expect(try client.get("/x").head.hasPrefix("HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n"))
    #expect(try client.get("/anything").body == "second")
    #expect(try client.get("/x").body == "route")
  }

  @Test func `a recorded request has the raw target and the decoded path and query`() throws {
    let server = try MockServer()
    server.route("/a/:segment") { .text($0.parameters["segment"] ?? "") }
    let client = try PlainClient(server)
    #expect(try client.get("/a/b%2Fc%20d?x=1%262&y&x=%C3%A4+b=c").body == "b/c d")
    let request = try #require(server.requests.first)
    #expect(request.target == "/a/b%2Fc%20d?x=1%262&y&x=%C3%A4+b=c")
    #expect(request.path == "/a/b/c d")
    #expect(request.query == HTTPQuery([.init("x", "1&2"), .init("y", nil), .init("x", "ä+b=c")]))
  }

  @Test func `routes an absolute-form target by its path`() throws {
    let server = try MockServer()
    server.route("/x", answer: .text("proxied"))
    #expect(try PlainClient(server).get("http://example.org/x?y").body == "proxied")
    #expect(server.requests.map(\.path) == ["/x"])
  }
}
