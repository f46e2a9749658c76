public import Errand
import ErrandFoundation

/// A transport without a network that gets its responses from a closure.
///
///     let server = Server(remote: "https://shop.test", transport: StubTransport { request in
///       .json(#"{"id": 7}"#, for: request)
///     })
public struct StubTransport: Transport {
  private let answer: @Sendable (HTTPRequest) async throws -> HTTPResponse

  /// Creates a transport that calls `answer` for every request, and rethrows its errors.
  public init(_ answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) { self.answer = answer }

  /// `true`, because the transport never connects to an address.
  public var checksAddresses: Bool { true }

  /// Returns the closure's response. Throws any error thrown by the closure, and `CancellationError` if the task is
  /// cancelled.
  public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    try Task.checkCancellation()
    return try await answer(request)
  }
}

extension HTTPResponse {
  /// Returns a response with a JSON body.
  public static func json(
    _ text: String, status: HTTPStatus = .ok, headers: HTTPHeaders = [:], for request: HTTPRequest
  )
    -> HTTPResponse
  {
    var headers = headers
    headers.setDefault(MediaType.json.rawValue, for: .contentType)
    return HTTPResponse(status, url: request.url, headers: headers, body: HTTPResponseBody(Data(text.utf8)))
  }

  /// Returns a response without a body.
  public static func status(_ status: HTTPStatus, headers: HTTPHeaders = [:], for request: HTTPRequest) -> HTTPResponse
  {
    HTTPResponse(status, url: request.url, headers: headers)
  }
}
