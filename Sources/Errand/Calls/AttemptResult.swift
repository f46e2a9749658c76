/// What one attempt came to.
enum AttemptResult: Sendable {
  /// A response with any status.
  case response(HTTPResponse)
  /// An error.
  case failure(any Error)

  func get() throws -> HTTPResponse {
    switch self {
    case .response(let response): return response
    case .failure(let error): throw error
    }
  }

  /// Lets go of a response that nobody wants.
  func discard() {
    if case .response(let response) = self { response.body.cancel() }
  }
}
