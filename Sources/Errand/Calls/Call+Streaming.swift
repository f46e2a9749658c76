extension Call {
  /// Runs a call and returns its response, whose body the caller reads.
  static func stream(_ plan: consuming TaskPlan) async throws -> HTTPResponse {
    try await perform(plan, .stream) { $0.response }
  }

  /// Hands the body over to the caller. The call ends when the body does and can be cancelled until then. Throws
  /// `CancellationError` if the call has already been cancelled, and ``HTTPBodyConsumedError`` if a step has read part
  /// of the body.
  func handOver(_ response: HTTPResponse) throws {
    let body = response.body
    try body.checkWhole()
    let status = response.status
    let reading = HandedOverBody(call: self, body: body)
    guard state.withLock({ $0.life.handOver(reading) }) else { throw CancellationError() }
    // Capturing the body in its own handlers would leak it.
    body.explainFailures { [self] in explained($0) }
    body.onEnd { [self] ending, _ in
      manager.calls.leave(self)
      state.withLock { $0.deadline }?.cancel()
      let outcome: CallOutcome =
        switch ending {
        case .complete, .dropped: .succeeded(status)
        case .failed(is CancellationError): .cancelled
        case .failed(let error): .failed(words(of: error))
        }
      Task { [self] in await end(outcome, ending.error.map(explained)) }
    }
  }
}

/// The body that the caller reads. Cancelling the call makes the body fail.
struct HandedOverBody: Cancellable {
  let call: Call
  weak let body: HTTPResponseBody?

  func cancel() { body?.fail(call.explained(CancellationError())) }
}
