import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct MockServerBodiesTests {
  private let server: MockServer
  private let client: PlainClient

  init() throws {
    server = try MockServer()
    server.route("/*", answer: .text("done"))
    client = try PlainClient(server)
  }

  @Test(arguments: [
    "Content-Length: 11\r\n\r\nhello world",
    "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n",
  ])
  func `reads a body with a Content-Length or chunked framing`(rest: String) throws {
    client.say("POST /x HTTP/1.1\r\n" + rest)
    #expect(try client.hearResponse().body == "done")
    let request = try #require(server.requests.first)
    #expect(request.method == .post)
    #expect(request.body == Data("hello world".utf8))
    #expect(request.bodyLength == 11)
    #expect(request.isBodyComplete)
  }

  @Test func `sends 100 Continue to a client that expects it`() throws {
    let head = try client.hear(
      head: "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
    #expect(head == "HTTP/1.1 100 Continue\r\n\r\n")
    client.say("hello")
    #expect(try client.hearResponse().body == "done")
  }

  @Test func `an early answer does not wait for the body`() throws {
    server.enqueue(.status(.contentTooLarge).earlyAnswer())
    client.say("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n")
    #expect(try client.hearResponse().head.hasPrefix("HTTP/1.1 413 "))
    #expect(server.requests.map(\.isBodyComplete) == [false])
    client.say("hello")
    #expect(try client.get("/").body == "done", "the server skips the request body")
  }

  @Test func `a client that is still sending receives an early answer that closes the connection`() throws {
    server.route(.post, "/big", answer: .status(.contentTooLarge).earlyAnswer().closing())
    client.say("POST /big HTTP/1.1\r\nContent-Length: 10000000\r\n\r\n")
    #expect(client.say(Data(count: 5_000_000)), "the server keeps reading, because a reset could overtake the answer")
    let all = try client.hearAll()
    #expect(all.hasPrefix("HTTP/1.1 413 ") && all.contains("Connection: close\r\n"))
  }

  @Test func `marks an aborted request as incomplete`() async throws {
    client.say("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhel")
    client.hangUp()
    let request = try await server.nextRequest()
    #expect(request.body == Data("hel".utf8))
    #expect(!request.isBodyComplete)
  }

  @Test func `stores the first 64 MiB of a longer body and counts the rest`() throws {
    let length = (64 << 20) + 1000
    client.say("POST / HTTP/1.1\r\nContent-Length: \(length)\r\n\r\n")
    client.say(Data(count: length))
    #expect(try client.hearResponse().body == "done")
    #expect(server.requests.map(\.body.count) == [64 << 20])
    #expect(server.requests.map(\.bodyLength) == [length])
    #expect(server.requests.map(\.isBodyComplete) == [true])
  }

  @Test func `answers a malformed request with 400`() throws {
    client.say("hello\r\n\r\n and much more")
    let all = try client.hearAll()
    #expect(all.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
    #expect(all.hasSuffix("Invalid request: malformed request line “hello”."))
    #expect(server.requestCount == 0)
  }
}
