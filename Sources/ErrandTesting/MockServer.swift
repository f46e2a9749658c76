public import Errand
public import ErrandFoundation

/// A real HTTP/1.1 server on 127.0.0.1, for tests. It sends configured answers, simulates failures and records
/// requests.
///
///     let server = try MockServer()
///     server.route(.get, "/widgets/:id") { request in .json(#"{"id":\#(request.parameters["id"] ?? "0")}"#) }
///     server.enqueue(.status(503, headers: ["Retry-After": "1"]))
///
///     let widget = try await GetWidget(id: 7).send()      // a 503 first, then the route's answer
///     #expect(server.requestCount == 2)
///
/// The server listens on a free port from its creation until it is stopped or released. Queued answers are used first,
/// for any request. Then the routes are tried, starting with the most recent. Requests without a route get a 404 with
/// an explanation. Connections are kept alive. Each connection has its own thread, so an answer can block for any
/// length of time.
///
/// If a route's closure refers to its own server, the server is kept alive until ``stop()`` is called.
public final class MockServer: Sendable {
  /// The server's URL, `http://127.0.0.1:PORT`.
  public let url: URL
  private let host: MockHost

  /// Starts a server.
  ///
  /// - Parameters:
  ///   - requestLimit: The number of requests kept for ``requests`` and ``nextRequest()``. Later requests are answered
  ///     and counted, but not kept. Set a limit for tests with a very large number of requests, such as benchmarks. By
  ///     default, there is no limit.
  ///   - chaos: The faults of the requests. Their delays are in real time. Defaults to none.
  /// - Throws: ``MockServerError`` if no descriptor or port is available.
  public init(keeping requestLimit: Int = .max, chaos: Chaos? = nil) throws {
    host = try MockHost(requestLimit: requestLimit, chaos)
    guard let url = URL(string: "http://127.0.0.1:\(host.port)") else {
      try host.start()
      host.stop(waits: true)
      throw MockServerError("can't create a URL for port \(host.port)")
    }
    self.url = url
    try host.start()
  }

  // Don't wait: the last reference may be released on one of Swift's few threads.
  deinit { host.stop(waits: false) }

  /// Closes the listening socket and all connections, even during an exchange, and removes the routes.
  ///
  /// Recorded requests can still be read. Pending waits throw a ``MockServerError``. Returns when all threads have
  /// ended, or after five seconds if a route's closure takes longer.
  public func stop() { host.stop(waits: true) }
}

// MARK: Answers

extension MockServer {
  /// Answers requests with a method and path by calling a closure.
  ///
  /// A segment that begins with a colon matches any segment, and `*` at the end matches all remaining segments; see
  /// ``MockRequest/parameters``. If several routes match, the most recently added route is used. The closure is called
  /// on the connection's thread when the request's body is complete. It can block.
  public func route(
    _ method: HTTPMethod, _ path: String, _ handler: @escaping @Sendable (MockRequest) -> MockAnswer
  ) {
    host.script.withLock { $0.add(MockRoute(method, path, .handler(handler))) }
  }

  /// Answers requests with a path and any method by calling a closure.
  public func route(_ path: String, _ handler: @escaping @Sendable (MockRequest) -> MockAnswer) {
    host.script.withLock { $0.add(MockRoute(nil, path, .handler(handler))) }
  }

  /// Gives a fixed answer to requests with a method and path. The answer can be sent early.
  public func route(_ method: HTTPMethod, _ path: String, answer: MockAnswer) {
    host.script.withLock { $0.add(MockRoute(method, path, .answer(answer))) }
  }

  /// Gives a fixed answer to requests with a path and any method. The answer can be sent early.
  public func route(_ path: String, answer: MockAnswer) {
    host.script.withLock { $0.add(MockRoute(nil, path, .answer(answer))) }
  }

  /// Queues an answer for the next unanswered request, regardless of its path.
  public func enqueue(_ answer: MockAnswer) {
    host.script.withLock { $0.enqueue(answer) }
  }
}

// MARK: Recorded requests

extension MockServer {
  /// The recorded requests, including incomplete ones, in the order in which they ended.
  public var requests: [MockRequest] { host.ledger.withLock { $0.requests } }

  /// The number of requests received.
  public var requestCount: Int { host.ledger.withLock { $0.requestCount } }

  /// The number of connections accepted so far.
  public var connectionCount: Int { host.ledger.withLock { $0.connectionCount } }

  /// The number of open connections.
  public var openConnections: Int { host.ledger.withLock { $0.sockets.count } }

  /// The maximum number of concurrently open connections.
  public var peakConnections: Int { host.ledger.withLock { $0.peakConnections } }

  /// The number of response bytes accepted by clients or network buffers. It stops growing when a client stops reading.
  public var bytesSent: Int { host.bytesSent.withLock { $0 } }

  /// Returns the next request, waiting for it if necessary. The first call returns the first request, and so on.
  ///
  /// - Throws: `CancellationError` if the surrounding task is cancelled, in which case the request is kept for the next
  ///   call. ``MockServerError`` if the server stops before there is a request.
  public func nextRequest() async throws -> MockRequest {
    guard let request = try await host.wait(for: .request) else { throw MockServerError.stopped }
    return request
  }

  /// Waits until exactly `count` connections are open, for example 0 after a call has been cancelled.
  ///
  /// - Throws: `CancellationError` if the surrounding task is cancelled, ``MockServerError`` if the server stops.
  public func waitForOpenConnections(_ count: Int) async throws {
    _ = try await host.wait(for: .openConnections(count))
  }
}
