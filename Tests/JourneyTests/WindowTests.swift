import Errand
import ErrandTesting
import Foundation
import Testing

/// Thousands of tasks that run in a window over real sockets.
@Suite(.balancedEvents, .timeLimit(.minutes(1))) struct WindowTests {
  struct GetPart: ServerGETTask, PayloadDownloadingTask {
    typealias DownloadPayload = String
    let server: Server
    let id: Int
    var path: String { "parts/\(id)" }
  }

  /// Returns a mock shop with numbered parts, and a server that is limited only by the window.
  private func make() throws -> (MockServer, Server) {
    let mock = try MockServer(keeping: 0)
    mock.route(.get, "/parts/:id") { .text($0.parameters["id"] ?? "") }
    var configuration = ServerConfiguration()
    configuration.log = .discard
    return (
      mock,
      Server(Remote(mock.url), configuration: configuration, manager: TaskManager(limits: .unlimited))
    )
  }

  @Test func `three thousand tasks in a window of 16 use at most 16 connections`() async throws {
    let (mock, server) = try make()
    let tasks = (0..<3000).lazy.map { @Sendable in GetPart(server: server, id: $0) }
    let ids = try await server.manager.withResults(of: tasks, limit: 16) { results in
      var ids: Set<Int> = []
      for await (task, result) in results {
        let part = try result.get()
        #expect(part == "\(task.id)")
        ids.insert(task.id)
      }
      #expect("\(results.progress)" == "3000 of 3000 finished")
      return ids
    }
    #expect(ids.count == 3000)
    #expect(mock.requestCount == 3000)
    // A connection closed after its exchange may still be counted.
    if keepsConnections { #expect(mock.peakConnections <= 16) }
    #expect(mock.peakConnections > 1, "the tasks ran concurrently")
  }

  @Test func `slow tasks do not exceed the window even if results keep the order of the tasks`() async throws {
    let (mock, server) = try make()
    mock.route(.get, "/parts/:id") { request in
      let id = request.parameters["id"] ?? ""
      return id.hasSuffix("50") ? .text(id).after(.milliseconds(5)) : .text(id)
    }
    let tasks = AsyncStream { continuation in
      for id in 0..<2000 { continuation.yield(GetPart(server: server, id: id)) }
      continuation.finish()
    }
    var ids: [Int] = []
    for try await (task, result) in server.manager.results(of: tasks, limit: 16, order: .submitted) {
      if try result.get() == "\(task.id)" { ids.append(task.id) }
    }
    #expect(ids == Array(0..<2000))
    // A connection closed after its exchange may still be counted.
    if keepsConnections { #expect(mock.peakConnections <= 16) }
  }

  @Test func `the first failure among thousands of tasks leaves nothing behind`() async throws {
    let (mock, server) = try make()
    mock.route(.get, "/parts/500", answer: .status(404))
    mock.route(.get, "/parts/501", answer: .hang)
    let error = await #expect(throws: TaskError.self) {
      let tasks = (0..<3000).lazy.map { @Sendable in GetPart(server: server, id: $0) }
      _ = try await server.manager.downloads(of: tasks, limit: 16)
    }
    #expect(error?.status == 404)
    #expect(server.manager.callCount == 0 && server.manager.runningCount == 0)
    #expect(mock.requestCount < 600)
  }
}
