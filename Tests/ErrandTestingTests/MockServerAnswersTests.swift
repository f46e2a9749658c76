import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct MockServerAnswersTests {
  private let server: MockServer
  private let client: PlainClient

  init() throws {
    server = try MockServer()
    client = try PlainClient(server)
  }

  @Test func `a response contains its content type and length`() throws {
    server.enqueue(.json("{}", status: .created))
    let answer = try client.get("/")
    #expect(
      answer.head == "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n")
    #expect(answer.body == "{}")
  }

  @Test func `sends a small answer in one packet`() throws {
    server.enqueue(.text("hello"))
    client.say("GET / HTTP/1.1\r\n\r\n")
    let some = String(decoding: try client.hearSome() ?? Data(), as: UTF8.self)
    #expect(some.hasPrefix("HTTP/1.1 200 OK\r\n") && some.hasSuffix("\r\n\r\nhello"))
  }

  @Test func `an answer's own headers take precedence`() throws {
    server.enqueue(.status(200, headers: ["content-type": "x/y", "content-length": "0"], body: "no"))
    let head = try client.hear(head: "GET / HTTP/1.1\r\n\r\n")
    #expect(head == "HTTP/1.1 200 OK\r\ncontent-type: x/y\r\ncontent-length: 0\r\n\r\n")
  }

  @Test func `an answer can repeat a header`() throws {
    server.enqueue(.status(200).header("Set-Cookie", "a=1").header("Set-Cookie", "b=2"))
    #expect(try client.get("/").head.contains("Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n"))
  }

  @Test(arguments: [("HEAD", 200), ("GET", 204), ("GET", 304)])
  func `HEAD, 204 and 304 responses have no body`(method: String, status: Int) throws {
    server.enqueue(.status(HTTPStatus(status), body: "body"))
    server.enqueue(.text("next"))
    let head = try client.hear(head: "\(method) / HTTP/1.1\r\n\r\n")
    #expect(head.contains("Content-Length: 4\r\n") == (status != 204))
    let next = try client.get("/")
    #expect(next.head.hasPrefix("HTTP/1.1 200 OK\r\n"), "the next response follows directly after the head")
    #expect(next.body == "next")
  }

  @Test func `a 304 has a Content-Length only if the answer sets it`() throws {
    server.enqueue(.status(304))
    #expect(try client.hear(head: "GET / HTTP/1.1\r\n\r\n") == "HTTP/1.1 304 Not Modified\r\n\r\n")
    server.enqueue(.status(304, headers: ["Content-Length": "7"]))
    #expect(try client.hear(head: "GET / HTTP/1.1\r\n\r\n").contains("Content-Length: 7\r\n"))
  }

  @Test func `sends a chunked body in the given chunks`() throws {
    server.enqueue(.chunked([Data("hello".utf8), Data(), Data(repeating: 0x61, count: 26)]))
    let head = try client.hear(head: "GET / HTTP/1.1\r\n\r\n")
    #expect(head.contains("Transfer-Encoding: chunked\r\n"))
    let body = try client.hear(through: "0\r\n\r\n")
    #expect(body == "5\r\nhello\r\n1a\r\n" + String(repeating: "a", count: 26) + "\r\n0\r\n\r\n")
  }

  @Test func `an endless body ends when the client disconnects`() async throws {
    server.enqueue(.endless(chunk: Data(repeating: 0x61, count: 10_000)))
    client.say("GET / HTTP/1.1\r\n\r\n")
    #expect(try client.hear(count: 5_000_000).count == 5_000_000)
    #expect(server.openConnections == 1)
    client.hangUp()
    try await server.waitForOpenConnections(0)
  }

  @Test func `the answer .drop reads the request and closes the connection`() throws {
    server.enqueue(.drop)
    client.say("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello")
    #expect(try client.hearAll() == "")
    #expect(server.requests.map(\.body) == [Data("hello".utf8)])
  }

  @Test func `the answer .reset resets the connection`() throws {
    server.enqueue(.reset)
    client.say("GET / HTTP/1.1\r\n\r\n")
    #expect(throws: PlainClient.Failure.reset) { try client.hearAll() }
  }

  @Test func `a truncated body is shorter than its Content-Length`() throws {
    server.enqueue(.truncated(body: Data("0123456789".utf8), after: 4))
    client.say("GET / HTTP/1.1\r\n\r\n")
    let all = try client.hearAll()
    #expect(all.contains("Content-Length: 10\r\n"))
    #expect(all.hasSuffix("\r\n\r\n0123"))
  }

  @Test func `the answer .hang reads the request and waits until the client disconnects`() async throws {
    server.enqueue(.hang)
    client.say("GET /hang HTTP/1.1\r\n\r\n")
    #expect(try await server.nextRequest().path == "/hang")
    #expect(server.openConnections == 1)
    client.hangUp()
    try await server.waitForOpenConnections(0)
  }

  @Test func `sends raw bytes unchanged`() throws {
    server.enqueue(.raw(Data("SSH-2.0-none\n".utf8)))
    client.say("GET / HTTP/1.1\r\n\r\n")
    #expect(try client.hearAll() == "SSH-2.0-none\n")
  }

  @Test func `a closing answer sends Connection: close and closes the connection`() throws {
    server.enqueue(.text("bye").closing())
    client.say("GET / HTTP/1.1\r\n\r\n")
    let all = try client.hearAll()
    #expect(all.contains("Connection: close\r\n") && all.hasSuffix("bye"))
  }

  @Test func `sends a large body completely`() throws {
    let body = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0) })
    server.enqueue(.data(body))
    _ = try client.hear(head: "GET / HTTP/1.1\r\n\r\n")
    #expect(try client.hear(count: body.count) == body)
  }
}

extension PlainClient {
  /// Sends a request and reads only the response head.
  func hear(head request: String) throws -> String {
    say(request)
    return try hear(through: "\r\n\r\n")
  }
}
