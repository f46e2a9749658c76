import Errand
import ErrandTesting
import Testing

@Suite(.timeLimit(.minutes(1))) struct MockServerWaitingTests {
  @Test func `nextRequest returns requests in order`() async throws {
    let server = try MockServer()
    let client = try PlainClient(server)
    _ = try client.get("/0")
    _ = try client.get("/1")
    #expect(try await server.nextRequest().path == "/0")
    #expect(try await server.nextRequest().path == "/1")
    #expect(server.requests.count == 2, "returned requests stay in the list")
  }

  @Test func `nextRequest waits for a request`() async throws {
    let server = try MockServer()
    async let request = server.nextRequest()
    _ = try PlainClient(server).get("/late")
    #expect(try await request.path == "/late")
  }

  @Test func `every waiting caller receives its own request`() async throws {
    let server = try MockServer()
    let client = try PlainClient(server)
    let paths = try await withThrowingTaskGroup { group in
      for _ in 0..<10 { group.addTask { try await server.nextRequest().path } }
      for index in 0..<10 { _ = try client.get("/\(index)") }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(paths.count == 10)
  }

  @Test func `a cancelled nextRequest throws and consumes no request`() async throws {
    let server = try MockServer()
    for isCancelledFirst in [true, false] {
      let task = Task {
        if isCancelledFirst { withUnsafeCurrentTask { $0?.cancel() } }
        _ = try await server.nextRequest()
      }
      await giveWay()
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    _ = try PlainClient(server).get("/first")
    #expect(try await server.nextRequest().path == "/first")
  }

  @Test func `stopping the server ends every wait for a request`() async throws {
    let server = try MockServer()
    let task = Task { try await server.nextRequest() }
    await giveWay()
    server.stop()
    await #expect(throws: MockServerError.self) { try await task.value }
    await #expect(throws: MockServerError.self) { _ = try await server.nextRequest() }
  }

  @Test func `keeps only the given number of requests, starting with the first`() throws {
    let server = try MockServer(keeping: 2)
    let client = try PlainClient(server)
    for index in 0..<5 { _ = try client.get("/\(index)") }
    #expect(server.requests.map(\.path) == ["/0", "/1"])
    #expect(server.requestCount == 5)
  }
}
