import Errand
import ErrandTesting
import Foundation

/// A transport that turns a hang in any step into a failure, so the suite can continue.
///
/// A test's own time limit only cancels the test, and then waits forever for code that ignores cancellation.
struct BoundedTransport: Transport {
  private let transport: any Transport
  private let limit: Duration

  init(_ transport: any Transport, limit: Duration = .seconds(40)) {
    self.transport = transport
    self.limit = limit
  }

  func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    let response = try await Deadline(limit).run { [transport] in try await transport.send(request) }
    return HTTPResponse(
      response.status, url: response.url, headers: response.headers, version: response.version,
      isConnectionReused: response.isConnectionReused,
      body: HTTPResponseBody(BoundedSource(body: response.body, limit: limit)))
  }
}

private final class BoundedSource: HTTPBodySource {
  private let body: HTTPResponseBody
  private let limit: Duration

  init(body: HTTPResponseBody, limit: Duration) {
    self.body = body
    self.limit = limit
  }

  func next() async throws -> Data? { try await Deadline(limit).run { [body] in try await body.next() } }

  func cancel() { body.cancel() }

  var trailers: HTTPHeaders { body.trailers }

  var timings: TransferTimings? { body.timings }
}
