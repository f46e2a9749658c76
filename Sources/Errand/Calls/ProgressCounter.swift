import ErrandFoundation

/// Counts the bytes of an exchange in both directions and reports progress.
struct ProgressCounter {
  private let attempt: Int
  let clock: CallClock
  let notify: @Sendable (TransferProgress) -> Void

  /// The size, in bytes, of the chunks in which in-memory bodies are counted.
  private static let pieceSize = 64 << 10

  init(of attempt: Int, clock: CallClock, notify: @escaping @Sendable (TransferProgress) -> Void) {
    self.attempt = attempt
    self.clock = clock
    self.notify = notify
  }

  func sending(
    _ request: HTTPRequest, _ send: (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    var request = request
    let isBrief = request.body.data.map { $0.count <= Self.pieceSize } ?? false
    let upload = ProgressReporter(self)
    if !isBrief { request.body = counted(request.body, by: upload) }
    let response = try await send(request)
    if isBrief { reportWhole(of: request.body) } else { upload.finishWhereHandedOver() }
    return response
  }

  func count(_ response: inout HTTPResponse) {
    // RFC 9110 §8.6: `Content-Length` is the compressed length, but the bytes counted here are decompressed.
    let total = response.headers.isCompressed ? nil : response.headers.number(.contentLength)
    let meter = ProgressMeter(.down, attempt: attempt, total: total, at: clock.now)
    response.body = HTTPResponseBody(CountedBody(body: response.body, reporter: ProgressReporter(self, meter)))
  }

  private func reportWhole(of body: HTTPBody) {
    var meter = ProgressMeter(.up, attempt: attempt, total: body.data.map { Int64($0.count) }, at: clock.now)
    _ = meter.add(body.data?.count ?? 0, at: clock.now)
    notify(meter.finish(at: clock.now))
  }

  /// Returns a body with the same content that counts its bytes each time it is read from the start.
  private func counted(_ body: HTTPBody, by reporter: ProgressReporter) -> HTTPBody {
    guard !body.isEmpty else { return body }
    let length: Int64?
    do { length = try body.length() } catch { return body }  // the transport reports why the body can't be read
    return .composed(
      length: length, isReplayable: body.isReplayable, type: body.mediaType, trailers: body.trailers,
      isInMemory: body.isInMemory, isProduced: body.isProduced
    ) { [self] sink in
      let reading = reporter.begin(ProgressMeter(.up, attempt: attempt, total: length, at: clock.now), length: length)
      try await body.forEachCountedChunk { chunk in
        for start in stride(from: chunk.startIndex, to: chunk.endIndex, by: Self.pieceSize) {
          let piece = chunk[start..<min(start + Self.pieceSize, chunk.endIndex)]
          reporter.hand(over: piece.count, of: reading)
          try await sink(piece)
          reporter.add(piece.count, of: reading)
        }
      }
      reporter.finish(reading)
    }
  }
}

/// Reports the progress of one body. A request body may be read several times.
private final class ProgressReporter: Sendable {
  private struct State {
    var reading = 0
    /// `nil` before the body is read, and after its end has been reported.
    var meter: ProgressMeter?
    var length: Int64?
    /// The number of bytes handed to the sender, including the current chunk, and how many of them have been counted.
    var handed: Int64 = 0
    var counted: Int64 = 0
  }

  private let state: Lock<State>
  /// Held while progress is reported.
  private let reporting = Lock(())
  private let counter: ProgressCounter

  init(_ counter: ProgressCounter, _ meter: ProgressMeter? = nil) {
    state = Lock(State(meter: meter))
    self.counter = counter
  }

  /// Starts counting a body from its first byte and returns the number of this reading. Earlier readings are then
  /// ignored.
  func begin(_ meter: ProgressMeter, length: Int64?) -> Int {
    state.withLock { state in
      state = State(reading: state.reading + 1, meter: meter, length: length)
      return state.reading
    }
  }

  func hand(over count: Int, of reading: Int) {
    state.withLock { if $0.reading == reading { $0.handed += Int64(count) } }
  }

  func add(_ count: Int, of reading: Int = 0) {
    notify { state, now in
      guard state.reading == reading else { return nil }
      state.counted += Int64(count)
      return state.meter?.add(count, at: now)
    }
  }

  func finish(_ reading: Int = 0) { end { $0.reading == reading } }

  /// Reports the end of a body if all of its bytes have been handed over. Some of them may not have been counted yet,
  /// because the response may arrive first.
  func finishWhereHandedOver() { end { $0.length == $0.handed } }

  private func end(where hasEnded: (State) -> Bool) {
    notify { state, now in
      guard var meter = state.meter, hasEnded(state) else { return nil }
      state.meter = nil
      _ = meter.add(Int(max(0, state.handed - state.counted)), at: now)
      return meter.finish(at: now)
    }
  }

  /// Reports the progress that `change` returns. Reports are serialized, so no report follows the final one.
  private func notify(_ change: (inout State, Duration) -> TransferProgress?) {
    let now = counter.clock.now
    reporting.withLock { _ in
      if let progress = state.withLock({ change(&$0, now) }) { counter.notify(progress) }
    }
  }
}

private final class CountedBody: HTTPBodySource {
  private let body: HTTPResponseBody
  private let reporter: ProgressReporter

  init(body: HTTPResponseBody, reporter: ProgressReporter) {
    self.body = body
    self.reporter = reporter
  }

  func next() async throws -> Data? {
    let chunk = try await body.next()
    if let chunk { reporter.add(chunk.count) } else { reporter.finish() }
    return chunk
  }

  func cancel() { body.cancel() }

  var trailers: HTTPHeaders { body.trailers }
  var timings: TransferTimings? { body.timings }
}
