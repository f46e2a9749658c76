public import Errand
import ErrandFoundation

/// A transport without sockets: a closure answers.
///
///     let server = Server(remote: "https://shop.test", transport: StubTransport { request in
///       .json(#"{"id": 7}"#, for: request)
///     })
public struct StubTransport: Transport {
  private let answer: @Sendable (HTTPRequest) async throws -> HTTPResponse

  /// A transport that answers every request with `answer`; what it throws is thrown.
  public init(_ answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) { self.answer = answer }

  /// True: it connects to nothing.
  public var checksAddresses: Bool { true }

  /// The answer of the closure.
  /// Throws what the closure throws, and `CancellationError` when the surrounding task is cancelled.
  public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    try Task.checkCancellation()
    return try await answer(request)
  }
}

extension HTTPResponse {
  /// A JSON body for a request.
  public static func json(
    _ text: String, status: HTTPStatus = .ok, headers: HTTPHeaders = [:], for request: HTTPRequest
  )
    -> HTTPResponse
  {
    var headers = headers
    headers.setDefault(MediaType.json.rawValue, for: .contentType)
    return HTTPResponse(status, url: request.url, headers: headers, body: HTTPResponseBody(Data(text.utf8)))
  }

  /// A status without a body for a request.
  public static func status(_ status: HTTPStatus, headers: HTTPHeaders = [:], for request: HTTPRequest) -> HTTPResponse
  {
    HTTPResponse(status, url: request.url, headers: headers)
  }
}
