#if os(Linux)
  import Errand
  import ErrandTesting
  import Foundation
  import Testing

  /// Waiting for a connection is a separate phase if the origin allows only one connection.
  @Suite(.balancedEvents, .timeLimit(.minutes(1)))
  struct ConnectionLimitTests {
    private let remote: MockServer
    private let transport: CurlTransport

    init() throws {
      remote = try MockServer()
      var configuration = CurlTransport.Configuration()
      configuration.connectionsPerOrigin = 1
      transport = try CurlTransport(configuration)
    }

    private func request(host: String = "127.0.0.1", _ timeouts: Timeouts = Timeouts()) throws -> HTTPRequest {
      let port = try #require(remote.url.port)
      var request = HTTPRequest(.get, try #require(URL(string: "http://\(host):\(port)/")))
      request.options.timeouts = timeouts
      return request
    }

    /// Returns the error of an exchange that waits for a connection that is never released.
    private func error(_ timeouts: Timeouts) async throws -> TaskError {
      remote.enqueue(.hang)
      let first = Task { [transport, request = try request()] in try await transport.send(request) }
      _ = try await remote.nextRequest()
      let error = await #expect(throws: TaskError.self) { try await transport.send(request(timeouts)) }
      first.cancel()
      await #expect(throws: CancellationError.self) { try await first.value }
      #expect(remote.requestCount == 1)
      return try #require(error)
    }

    @Test(arguments: ["127.0.0.1", "localhost"])
    func `the connect timer does not run while waiting for a connection`(host: String) async throws {
      remote.enqueue(.text("first").after(.milliseconds(400)))
      remote.enqueue(.text("second"))
      let first = Task { [transport, request = try request(host: host)] in
        try await transport.send(request).body.collect()
      }
      _ = try await remote.nextRequest()
      let response = try await transport.send(request(host: host, Timeouts(connect: .milliseconds(150))))
      #expect(try await response.body.collect() == Data("second".utf8))
      #expect(response.isConnectionReused == keepsConnections)
      #expect(try await first.value == Data("first".utf8))
    }

    @Test func `the queue timer limits the wait for a connection`() async throws {
      let error = try await error(Timeouts(queue: .milliseconds(80), attempt: .milliseconds(20)))
      #expect(error.timer == .queue && error.limit == .milliseconds(80) && error.phase == .waiting, "\(error)")
      #expect(error.wasNotSent)
    }

    @Test func `without a queue timeout, the attempt timer limits the wait for a connection`() async throws {
      let error = try await error(Timeouts(attempt: .milliseconds(80)))
      #expect(error.timer == .attempt && error.phase == .waiting && error.wasNotSent, "\(error)")
    }

    @Test func `the connection limit applies to concurrent requests`() async throws {
      remote.route("/", answer: .text("x").after(.milliseconds(5)))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<60 { group.addTask { _ = try await transport.send(request()).body.collect() } }
        try await group.waitForAll()
      }
      #expect(remote.requestCount == 60)
      // The server may accept the new connection before it notices that the old connection has closed.
      #expect(remote.peakConnections == 1 || !keepsConnections)
    }

    @Test func `serves waiting requests in order`() async throws {
      remote.enqueue(.text("first").after(.milliseconds(200)))
      remote.route("/*", answer: .text("x"))
      let origin = try #require(URL(string: "/", relativeTo: remote.url)?.absoluteURL)
      var calls = [begin(HTTPRequest(.get, origin))]
      _ = try await remote.nextRequest()
      for number in 1...60 {
        calls.append(begin(HTTPRequest(.get, origin.appendingPathComponent("\(number)"))))
      }
      for call in calls { _ = try await call.value }
      #expect(remote.requests.map(\.path) == ["/"] + (1...60).map { "/\($0)" })
    }

    /// Sends a request and returns once the transport has received it, at the task's first suspension.
    private func begin(_ request: HTTPRequest) -> Task<Data, any Error> {
      Task.immediate { [transport] in try await transport.send(request).body.collect() }
    }

    @Test(arguments: ["127.0.0.1", "localhost"])
    func `the connect timer runs while connecting`(host: String) async throws {
      let listener = try FullListener()
      defer { listener.close() }
      let port = try #require(listener.url.port)
      let url = try #require(URL(string: "http://\(host):\(port)/"))
      var options = TransferOptions()
      options.timeouts = Timeouts(queue: .seconds(50), connect: .milliseconds(80))
      let request = HTTPRequest(.get, url, options: options)
      let error = await #expect(throws: TaskError.self) { try await transport.send(request) }
      #expect(error?.timer == .connect && error?.phase == .connecting, "\(String(describing: error))")
    }
  }
#endif
