import Errand
import ErrandTesting
import Foundation
import Testing

@Suite(.timeLimit(.minutes(1))) struct MockServerConnectionsTests {
  @Test func `a connection can be reused for many requests`() throws {
    let server = try MockServer()
    server.route("/*", answer: .text("ok"))
    let first = try PlainClient(server)
    _ = try first.get("/0")
    _ = try first.get("/1")
    _ = try PlainClient(server).get("/2")
    #expect(server.requests.map(\.path) == ["/0", "/1", "/2"])
    #expect(server.requests.map(\.connectionIndex) == [0, 0, 1])
    #expect(server.requests.map(\.indexOnConnection) == [0, 1, 0])
    #expect(server.requestCount == 3)
    #expect(server.connectionCount == 2)
  }

  @Test func `answers pipelined requests in order`() throws {
    let server = try MockServer()
    server.route("/:name") { .text($0.parameters["name"] ?? "") }
    let client = try PlainClient(server)
    client.say((0..<20).map { "GET /\($0) HTTP/1.1\r\n\r\n" }.joined())
    for index in 0..<20 { #expect(try client.hearResponse().body == "\(index)") }
  }

  @Test(arguments: ["GET / HTTP/1.1\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"])
  func `closes the connection if the client requests it`(request: String) throws {
    let server = try MockServer()
    server.enqueue(.text("last"))
    let client = try PlainClient(server)
    client.say(request)
    #expect(try client.hearAll().hasSuffix("last"))
  }

  @Test func `serves 200 connections concurrently`() async throws {
    let server = try MockServer()
    server.route("/*", answer: .text("ok"))
    let clients = try (0..<200).map { _ in try PlainClient(server) }
    for client in clients { client.say("GET / HTTP/1.1\r\n\r\n") }
    for client in clients { #expect(try client.hearResponse().body == "ok") }
    #expect(server.openConnections == 200)
    for client in clients { client.hangUp() }
    try await server.waitForOpenConnections(0)
    #expect(server.peakConnections == 200)
    #expect(server.connectionCount == 200)
  }

  @Test func `a stopped server closes its connections and accepts no more`() throws {
    let server = try MockServer()
    server.route("/*", answer: .text("ok"))
    let client = try PlainClient(server)
    _ = try client.get("/")
    server.stop()
    server.stop()
    #expect(try client.hearAll() == "")
    #expect(throws: PlainClient.Failure.refused) { try PlainClient(server) }
    #expect(server.requestCount == 1, "received requests are still available")
  }

  @Test func `a server stops when it is released`() throws {
    var server = try Optional(MockServer())
    let client = try PlainClient(#require(server))
    _ = try client.get("/")
    server = nil
    #expect(try client.hearAll() == "")
  }

  @Test func `a route's closure can stop its server`() async throws {
    let server = try MockServer()
    let client = try PlainClient(server)
    let time = await withCheckedContinuation { continuation in
      server.route("/stop") { _ in
        continuation.resume(returning: ContinuousClock().measure { server.stop() })
        return .text("stopped")
      }
      client.say("GET /stop HTTP/1.1\r\n\r\n")
    }
    #expect(time < .seconds(4), "the route does not wait for its own thread to end")
    #expect(try client.hearAll() == "")
  }

  #if os(Linux)
    // This is an exit test, so that no other test opens descriptors in the process.
    @Test func `stopping a server leaks no descriptors`() async {
      await #expect(processExitsWith: .success) {
        let before = try Self.socketsAndPipes()
        try Self.useAndStop()
        #expect(try Self.socketsAndPipes() == before)
      }
    }

    /// Returns the open sockets and pipes. The runtime may open other kinds of descriptors at any time.
    private static func socketsAndPipes() throws -> Set<String> {
      let folder = "/proc/self/fd/"
      // Some entries are already closed, such as the descriptor used to list the folder.
      let open = try FileManager.default.contentsOfDirectory(atPath: folder).compactMap { number in
        try? FileManager.default.destinationOfSymbolicLink(atPath: folder + number)
      }
      return Set(open.filter { $0.hasPrefix("socket:") || $0.hasPrefix("pipe:") })
    }

    private static func useAndStop() throws {
      let server = try MockServer()
      server.route("/answered", answer: .text("answered"))
      server.route("/late", answer: .text("never").after(.seconds(60)))
      server.route("/hang", answer: .hang)
      server.route("/closed", answer: .text("closed").closing())
      let clients = try (0..<20).map { _ in try PlainClient(server) }
      for (index, path) in ["late", "hang", "closed", "answered"].enumerated() {
        clients[index].say("GET /\(path) HTTP/1.1\r\n\r\n")
      }
      #expect(try clients[3].hearResponse().body == "answered")
      server.stop()
    }
  #endif
}
