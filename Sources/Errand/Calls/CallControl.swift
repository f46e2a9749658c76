import ErrandFoundation

/// Controls a call from a handle: pauses it and receives its events and progress.
final class CallControl: TaskObserver {
  let gate: PauseGate
  let onProgress: @Sendable (TransferProgress) -> Void
  private let onEvent: @Sendable (TaskEvent) -> Void

  init(
    _ gate: PauseGate, _ onEvent: @escaping @Sendable (TaskEvent) -> Void,
    onProgress: @escaping @Sendable (TransferProgress) -> Void
  ) {
    self.gate = gate
    self.onEvent = onEvent
    self.onProgress = onProgress
  }

  var delivery: ObserverDelivery { .inline }

  func observe(_ event: TaskEvent) { onEvent(event) }
}

/// A body that is not read while the gate is closed. Backpressure then makes the server wait.
final class PausableBody: HTTPBodySource {
  private let body: HTTPResponseBody
  private let chunks: HTTPResponseBody.AsyncIterator
  private let gate: PauseGate

  init(body: HTTPResponseBody, gate: PauseGate) {
    self.body = body
    chunks = body.makeAsyncIterator()
    self.gate = gate
  }

  func next() async throws -> Data? {
    try await gate.pass()
    return try await chunks.next()
  }

  func cancel() { body.cancel() }

  var trailers: HTTPHeaders { body.trailers }

  var timings: TransferTimings? { body.timings }
}
