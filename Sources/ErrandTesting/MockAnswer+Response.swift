import Errand
import ErrandFoundation

extension MockAnswer {
  /// Returns the response for a ``StubTransport``, which has no connection.
  func response(to request: HTTPRequest) async throws -> HTTPResponse {
    if headDelay > .zero { try await Task.sleep(for: headDelay) }
    switch conduct {
    case .respond(.whole(let data)): return response(data, to: request)
    case .respond(.chunked(let chunks)): return response(chunks.reduce(Data(), +), to: request)
    case .drop, .reset:
      throw TaskError(.connectionLost, "the stub closed the connection", phase: .awaitingResponse)
    case .hang:
      try await Task.sleep(for: .seconds(86_400))
      throw CancellationError()
    case .respond(.endless), .respond(.truncated), .raw:
      throw TaskError(.badRequest, "this answer needs a connection: use MockServer", phase: .preparing)
    }
  }

  private func response(_ body: Data, to request: HTTPRequest) -> HTTPResponse {
    HTTPResponse(status, url: request.url, headers: headers, body: HTTPResponseBody(body))
  }
}
