/// What one attempt came to: a response with any status, or an error.
struct AttemptResult: Sendable {
  let response: HTTPResponse?
  let error: (any Error)?
  let record: AttemptRecord

  init(response: HTTPResponse, record: AttemptRecord) {
    self.response = response
    error = nil
    self.record = record
  }

  init(error: any Error, record: AttemptRecord) {
    response = nil
    self.error = error
    self.record = record
  }

  func get() throws -> HTTPResponse {
    if let error { throw error }
    guard let response else {
      throw TaskError(.internal, "an attempt ended without response and without error", phase: .finishing)
    }
    return response
  }
}
