import ErrandFoundation

/// The control of a call from outside: the call waits at the gate, and reports its events and its progress.
final class CallControl: TaskObserver {
  let gate = PauseGate()
  /// The number of the work that the call is of; nil where there is none.
  let work: Int?
  /// Is told of the bytes that go up and come down.
  let onProgress: @Sendable (TransferProgress) -> Void
  private let onEvent: @Sendable (TaskEvent) -> Void

  init(
    work: Int? = nil, _ onEvent: @escaping @Sendable (TaskEvent) -> Void,
    onProgress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
  ) {
    self.work = work
    self.onEvent = onEvent
    self.onProgress = onProgress
  }

  var delivery: ObserverDelivery { .inline }

  func observe(_ event: TaskEvent) { onEvent(event) }
}

/// A body of which nothing is read while the gate is closed; the sender waits then, as for any slow reader.
final class PausableBody: HTTPBodySource {
  private let body: HTTPResponseBody
  private let gate: PauseGate

  init(body: HTTPResponseBody, gate: PauseGate) {
    self.body = body
    self.gate = gate
  }

  func next() async throws -> Data? {
    try await gate.pass()
    return try await body.next()
  }

  func cancel() { body.cancel() }

  var trailers: HTTPHeaders { body.trailers }

  var timings: TransferTimings? { body.timings }
}
