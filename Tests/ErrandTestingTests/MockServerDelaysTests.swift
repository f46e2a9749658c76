import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct MockServerDelaysTests {
  private let server: MockServer
  private let client: PlainClient

  init() throws {
    server = try MockServer()
    client = try PlainClient(server)
  }

  @Test func `delays an answer by the given time`() throws {
    server.enqueue(.text("late").after(.milliseconds(30)))
    let start = ContinuousClock.now
    #expect(try client.get("/").body == "late")
    #expect(ContinuousClock.now - start >= .milliseconds(30))
  }

  @Test func `delays a body by the given time`() throws {
    server.enqueue(.text("late").bodyAfter(.milliseconds(30)))
    let start = ContinuousClock.now
    #expect(try client.get("/").body == "late")
    #expect(ContinuousClock.now - start >= .milliseconds(30))
  }

  @Test func `the head does not wait for a delayed body`() throws {
    server.enqueue(.text("late").bodyAfter(.seconds(60)))
    #expect(try client.hear(head: "GET / HTTP/1.1\r\n\r\n").contains("Content-Length: 4\r\n"))
  }

  @Test func `sends a throttled body in parts with pauses`() throws {
    server.enqueue(.text("0123456789").throttled(bytes: 4, every: .milliseconds(10)))
    let start = ContinuousClock.now
    #expect(try client.get("/").body == "0123456789")
    #expect(ContinuousClock.now - start >= .milliseconds(20), "three parts with two pauses")
  }

  @Test func `sends the first part of a throttled body immediately`() throws {
    server.enqueue(.text("0123456789").throttled(bytes: 4, every: .seconds(60)))
    _ = try client.hear(head: "GET / HTTP/1.1\r\n\r\n")
    #expect(try client.hear(count: 4) == Data("0123".utf8))
  }

  @Test func `pauses after every chunk of a throttled chunked body`() throws {
    let chunks = ["one", "three", "x"].map { Data($0.utf8) }
    server.enqueue(.chunked(chunks).throttled(bytes: 4, every: .milliseconds(1)))
    _ = try client.hear(head: "GET / HTTP/1.1\r\n\r\n")
    #expect(try client.hear(through: "0\r\n\r\n") == "3\r\none\r\n4\r\nthre\r\n1\r\ne\r\n1\r\nx\r\n0\r\n\r\n")
  }

  @Test func `a delay ends when the client disconnects`() async throws {
    server.enqueue(.text("never").after(.seconds(60)))
    client.say("GET / HTTP/1.1\r\n\r\n")
    _ = try await server.nextRequest()
    client.hangUp()
    try await server.waitForOpenConnections(0)
  }

  @Test func `bytes that arrive during a delay do not end the delay`() async throws {
    server.enqueue(.text("first").after(.milliseconds(20)))
    server.enqueue(.text("second"))
    client.say("GET / HTTP/1.1\r\n\r\n")
    _ = try await server.nextRequest()
    client.say("GET / HTTP/1.1\r\n\r\n")
    #expect(try client.hearResponse().body == "first")
    #expect(try client.hearResponse().body == "second")
  }

  @Test(arguments: [
    MockAnswer.text("never").after(.seconds(60)),
    .text("never").bodyAfter(.seconds(60)),
    .text("never").throttled(bytes: 1, every: .seconds(60)),
    .hang,
    .endless(chunk: Data(repeating: 0x61, count: 10_000)),
  ])
  func `stopping the server ends any pending answer`(answer: MockAnswer) async throws {
    server.enqueue(answer)
    client.say("GET / HTTP/1.1\r\n\r\n")
    _ = try await server.nextRequest()
    let time = ContinuousClock().measure { server.stop() }
    #expect(time < .seconds(4), "stop() waits five seconds for threads that do not end")
    #expect(server.openConnections == 0)
  }
}
