public import Errand
public import ErrandFoundation

/// A real HTTP/1.1 server on 127.0.0.1, for tests: it answers what it is told to, fails how it is told to, and keeps
/// what it received.
///
///     let server = try MockServer()
///     server.route(.get, "/widgets/:id") { request in .json(#"{"id":\#(request.parameters["id"] ?? "0")}"#) }
///     server.enqueue(.status(503, headers: ["Retry-After": "1"]))
///
///     let widget = try await GetWidget(id: 7).download()      // a 503 first, then the route's answer
///     #expect(server.requestCount == 2)
///
/// It listens from the moment it is made, on a port that was free, and stops when it is released or told to. Queued
/// answers come first, whatever is asked for; then the routes, the latest first. What no route knows is a 404 that
/// says so. Connections are kept alive, and every one has a thread of its own, so that an answer may wait as long as
/// it likes.
///
/// A route's closure that refers to its own server keeps it alive until ``stop()``.
public final class MockServer: Sendable {
  /// The URL at which it listens: `http://127.0.0.1:PORT`.
  public let url: URL
  private let host: MockHost

  /// Starts a server.
  ///
  /// - Parameter requestLimit: How many requests are kept for ``requests`` and ``nextRequest()``; later ones are
  ///   answered and counted. Set it where a great many are sent, as in a benchmark.
  /// - Throws: ``MockServerError`` when the system has no descriptor or port left.
  public init(keeping requestLimit: Int = .max) throws {
    host = try MockHost(requestLimit: requestLimit)
    guard let url = URL(string: "http://127.0.0.1:\(host.port)") else {
      try host.start()
      host.stop(waits: true)
      throw MockServerError("no URL for port \(host.port)")
    }
    self.url = url
    try host.start()
  }

  // Without waiting: the last reference may go on one of Swift's threads, of which there are few.
  deinit { host.stop(waits: false) }

  /// Closes the listening socket and every connection, whatever they are at, and forgets the routes.
  ///
  /// What was received can still be read. Pending waits throw a ``MockServerError``. Returns when every
  /// thread has ended, or after five seconds where a route's closure takes longer.
  public func stop() { host.stop(waits: true) }
}

// MARK: What it answers

extension MockServer {
  /// Answers requests of a method for a path, with what the closure makes of them.
  ///
  /// A segment that begins with a colon stands for any one, and `*` at the end for all that follow; see
  /// ``MockRequest/parameters``. Where several routes match, the one that was added last answers. The closure is
  /// called when the request's body is there, on the connection's thread: it may block.
  public func route(
    _ method: HTTPMethod, _ path: String, _ handler: @escaping @Sendable (MockRequest) -> MockAnswer
  ) {
    host.script.withLock { $0.add(MockRoute(method, path, .handler(handler))) }
  }

  /// Answers requests of any method for a path, with what the closure makes of them.
  public func route(_ path: String, _ handler: @escaping @Sendable (MockRequest) -> MockAnswer) {
    host.script.withLock { $0.add(MockRoute(nil, path, .handler(handler))) }
  }

  /// Answers requests of a method for a path always the same; the answer may be an early one.
  public func route(_ method: HTTPMethod, _ path: String, answer: MockAnswer) {
    host.script.withLock { $0.add(MockRoute(method, path, .answer(answer))) }
  }

  /// Answers requests of any method for a path always the same; the answer may be an early one.
  public func route(_ path: String, answer: MockAnswer) {
    host.script.withLock { $0.add(MockRoute(nil, path, .answer(answer))) }
  }

  /// Answers the next request that has no queued answer yet, whatever it asks for.
  public func enqueue(_ answer: MockAnswer) {
    host.script.withLock { $0.enqueue(answer) }
  }
}

// MARK: What it received

extension MockServer {
  /// The requests in the order in which they came to their ends, those that broke off included.
  public var requests: [MockRequest] { host.ledger.withLock { $0.requests } }

  /// The number of requests received.
  public var requestCount: Int { host.ledger.withLock { $0.requestCount } }

  /// The number of connections ever accepted.
  public var connectionCount: Int { host.ledger.withLock { $0.connectionCount } }

  /// The number of connections that are open now.
  public var openConnections: Int { host.ledger.withLock { $0.sockets.count } }

  /// The most connections that were open at one time.
  public var peakConnections: Int { host.ledger.withLock { $0.peakConnections } }

  /// The bytes of responses that clients, or the buffers on the way to them, have taken; it stands still while a client
  /// does not read.
  public var bytesSent: Int { host.bytesSent.withLock { $0 } }

  /// The next request, waiting for it if need be: the first call returns the first one, and so on.
  ///
  /// - Throws: `CancellationError` when the surrounding task is cancelled; the request then stays for the next
  ///   call. ``MockServerError`` when the server stops before there was one.
  public func nextRequest() async throws -> MockRequest {
    guard let request = try await host.wait(for: .request) else { throw MockServerError.stopped }
    return request
  }

  /// Waits until exactly `count` connections are open: 0, for one, after a call was cancelled.
  ///
  /// - Throws: `CancellationError` when the surrounding task is cancelled, ``MockServerError`` when the server stops.
  public func waitForOpenConnections(_ count: Int) async throws {
    _ = try await host.wait(for: .openConnections(count))
  }
}
