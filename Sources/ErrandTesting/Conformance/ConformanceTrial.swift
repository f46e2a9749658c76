import Errand
import ErrandFoundation

/// A transport under test and its server, with helpers for the checks.
struct ConformanceTrial: Sendable {
  typealias Failure = TransportConformance.Failure

  let server: MockServer
  let end: ConformanceRoute.End
  let traits: ConformanceRoute.Traits

  var transport: any Transport { end.transport }

  /// Returns a URL on the server. `path` is not escaped.
  func url(_ path: String) throws -> URL {
    guard let url = URL(string: end.origin.absoluteString + path, encodingInvalidCharacters: false) else {
      throw Failure("'\(path)' is not a valid URL")
    }
    return url
  }

  func request(
    _ method: HTTPMethod = .get, _ path: String = "/", headers: HTTPHeaders = [:], body: HTTPBody = .empty,
    options change: (inout TransferOptions) -> Void = { _ in }
  ) throws -> HTTPRequest {
    var options = TransferOptions()
    change(&options)
    return HTTPRequest(method, try url(path), headers: headers, body: body, options: options)
  }

  @discardableResult
  func fetch(_ request: HTTPRequest) async throws -> (response: HTTPResponse, body: Data) {
    let response = try await transport.send(request)
    return (response, try await response.body.collect())
  }

  @discardableResult
  func fetch(_ request: HTTPRequest, answer: MockAnswer) async throws -> (response: HTTPResponse, body: Data) {
    server.enqueue(answer)
    return try await fetch(request)
  }

  /// Returns the error that a request throws while receiving the head or the body.
  func failure(of request: HTTPRequest, _ code: TaskError.Code) async throws -> TaskError {
    do {
      let (response, body) = try await fetch(request)
      throw Failure("expected \(code), got \(response.status.code) with \(body.count) bytes")
    } catch let error as TaskError {
      try equal(error.code, code, "the code of '\(error)'")
      return error
    }
  }

  /// Returns the only request that the server received.
  func received() throws -> MockRequest {
    try equal(server.requestCount, 1, "the number of requests")
    guard let request = server.requests.first else { throw Failure("the server recorded no request") }
    return request
  }

  /// Waits until all exchanges have ended, including those of the intermediary, and exactly `idle` connections of the
  /// transport are open.
  func waitForIdleness(keeping idle: Int = 0) async throws {
    try await server.waitForOpenConnections(traits.contains(.connections) ? idle : 0)
  }

  /// Checks that a response used the existing connection, and that no other connection was opened.
  func isReused(_ response: HTTPResponse) throws {
    try holds(response.isConnectionReused, "the connection was reused")
    if traits.contains(.connections) { try equal(server.connectionCount, 1, "the number of connections") }
  }

  func equal<Value: Equatable>(_ actual: Value, _ expected: Value, _ what: String) throws {
    guard actual != expected else { return }
    throw Failure("\(what): expected \(Self.shortened(expected)), got \(Self.shortened(actual))")
  }

  func holds(_ condition: Bool, _ expectation: @autoclosure () -> String) throws {
    if !condition { throw Failure("expected that \(expectation())") }
  }

  func isCancelled<Value: Sendable>(_ work: Task<Value, any Error>) async throws {
    do {
      throw Failure("expected CancellationError, got \(Self.shortened(try await work.value))")
    } catch is CancellationError {
      return
    } catch let error as Failure {
      throw error
    } catch {
      throw Failure("expected CancellationError, got \(type(of: error)): \(error)")
    }
  }

  private static func shortened(_ value: some Any) -> String {
    let text = (value as? Data).map { String(decoding: $0.prefix(200), as: UTF8.self) } ?? "\(value)"
    return text.count > 200 ? "\(text.prefix(200))…" : text
  }
}
