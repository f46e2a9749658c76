/// The result of one attempt.
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

  /// Cancels the body of an unwanted response.
  func discard() {
    if case .response(let response) = self { response.body.cancel() }
  }
}
