import Foundation

/// One attempt of a call under way.
///
/// It ends once: when its body was collected, or for a stream when the caller has read the body or let it go.
final class Attempt: Sendable {
  private let call: Call
  private let number: Int
  private let state: Lock<State>

  private struct State {
    var record: AttemptRecord
    /// When it had its slot, counted from the start of the call.
    var start: Duration
    var hasEnded = false
  }

  init(_ number: Int, of call: Call) {
    self.call = call
    self.number = number
    state = Lock(State(record: AttemptRecord(number: number), start: call.trace.elapsed))
    call.trace.note(.attemptStarted(number))
  }

  // MARK: 8. Admission

  func waitForSlot(_ host: Origin) async throws -> AdmissionDesk.Slot {
    let desk = call.manager.admission
    let start = call.trace.elapsed
    let hasWaited = Lock(false)
    let limit = call.timeouts.queue
    let slot = try await call.manager.clock.limiting(limit, .queue, phase: .waiting) { [call] in
      try await desk.slot(for: host, priority: call.plan.priority) {
        hasWaited.withLock { $0 = true }
        call.trace.note(.queued)
      }
    }
    let now = call.trace.elapsed
    let waited = hasWaited.withLock { $0 }
    state.withLock { state in
      state.start = now
      if waited { state.record.queued += now - start }
    }
    if waited { call.trace.note(.admitted(after: now - start)) }
    return slot
  }

  // MARK: 9. Transport

  /// Sends the request; the slot is held until the body of the response ended or was let go.
  func send(_ request: HTTPRequest, holding slot: AdmissionDesk.Slot) async throws -> HTTPResponse {
    var request = request
    request.options.mayRepeat = request.body.isReplayable && request.isRepeatable(call.plan.idempotency)
    let response = try await call.transport.send(request)
    response.body.onEnd { _ in slot.giveBack() }
    call.trace.note(.responded(response.status, isConnectionReused: response.isConnectionReused))
    return response
  }

  /// Takes the body as the call wants it, and ends the attempt.
  func received(_ response: HTTPResponse) async -> AttemptResult {
    state.withLock { $0.record.status = response.status }
    if case .stream = call.delivery, call.accepts(response.status) { return streaming(response) }
    do {
      let body = try await call.collect(response)
      var response = response
      let data = body.data
      call.trace.note(.bodyReceived(bytes: body.count))
      end(timings: response.body.timings, response: response, body: data)
      response.body = HTTPResponseBody(data)
      return .response(response)
    } catch {
      response.body.cancel()
      return failed(error, response: response)
    }
  }

  func failed(_ error: any Error) -> AttemptResult { failed(error, response: nil) }

  private func failed(_ error: any Error, response: HTTPResponse?) -> AttemptResult {
    let error = TaskError.ofTransfer(error)
    let reason = (error as? TaskError)?.reason ?? "\(error)"
    end(timings: response?.body.timings, failure: error is CancellationError ? "cancelled" : reason, response: response)
    return .failure(error)
  }

  private func streaming(_ response: HTTPResponse) -> AttemptResult {
    // Without the body, which would hold itself and never be let go.
    var head = response
    head.body = HTTPResponseBody()
    response.body.onEnd { [self, head] ending in
      // The body cannot be asked here: it is on its way out.
      if case .failed(let error) = ending {
        end(timings: nil, failure: "\(error)", response: head)
      } else {
        end(timings: nil, response: head)
      }
    }
    return .response(response)
  }

  private func end(timings: TransferTimings?, failure: String? = nil, response: HTTPResponse? = nil, body: Data? = nil)
  {
    let now = call.trace.elapsed
    let record = state.withLock { state -> AttemptRecord? in
      guard !state.hasEnded else { return nil }
      state.hasEnded = true
      state.record.duration = now - state.start
      state.record.timings = timings
      state.record.failure = failure
      return state.record
    }
    guard let record else { return }
    call.note(response: response, body: body, failure: failure, duration: record.duration)
    call.trace.note(.attemptEnded(number, record))
  }
}
