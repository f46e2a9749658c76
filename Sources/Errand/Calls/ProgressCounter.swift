import ErrandFoundation

/// Counts the bytes of an exchange as they go up and come down, for those who want to know its progress.
struct ProgressCounter {
  /// The number of the attempt.
  private let attempt: Int
  let clock: CallClock
  let tell: @Sendable (TransferProgress) -> Void

  /// The number of bytes counted at a time of a body in memory.
  private static let pieceSize = 64 << 10

  init(of attempt: Int, clock: CallClock, tell: @escaping @Sendable (TransferProgress) -> Void) {
    self.attempt = attempt
    self.clock = clock
    self.tell = tell
  }

  /// Sends a request, and counts its body.
  func sending(
    _ request: HTTPRequest, _ send: (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    var request = request
    let isBrief = request.body.data.map { $0.count <= Self.pieceSize } ?? false
    let upload = ProgressTeller(self)
    if !isBrief { request.body = counted(request.body, by: upload) }
    let response = try await send(request)
    if isBrief { tellWhole(of: request.body) } else { upload.finishWhereHandedOver() }
    return response
  }

  /// Counts the body of a response as it is read.
  func count(_ response: inout HTTPResponse) {
    // RFC 9110 §8.6: the length is that of the compressed body, and what is read here is decompressed.
    let total = response.headers.isCompressed ? nil : response.headers.number(.contentLength)
    let meter = ProgressMeter(.down, attempt: attempt, total: total, at: clock.now)
    response.body = HTTPResponseBody(CountedBody(body: response.body, teller: ProgressTeller(self, meter)))
  }

  /// Tells of a body that went up in one piece.
  private func tellWhole(of body: HTTPBody) {
    var meter = ProgressMeter(.up, attempt: attempt, total: body.data.map { Int64($0.count) }, at: clock.now)
    _ = meter.add(body.data?.count ?? 0, at: clock.now)
    tell(meter.finish(at: clock.now))
  }

  /// The same body, counted as it is read, from its start each time.
  private func counted(_ body: HTTPBody, by teller: ProgressTeller) -> HTTPBody {
    guard !body.isEmpty else { return body }
    let length: Int64?
    do { length = try body.length() } catch { return body }  // whoever sends it says why it cannot be read
    return .composed(
      length: length, isReplayable: body.isReplayable, type: body.mediaType, trailers: body.trailers,
      isInMemory: body.isInMemory, isProduced: body.isProduced
    ) { [self] sink in
      let reading = teller.begin(ProgressMeter(.up, attempt: attempt, total: length, at: clock.now), length: length)
      try await body.forEachCountedChunk { chunk in
        for start in stride(from: chunk.startIndex, to: chunk.endIndex, by: Self.pieceSize) {
          let piece = chunk[start..<min(start + Self.pieceSize, chunk.endIndex)]
          teller.hand(over: piece.count, of: reading)
          try await sink(piece)
          teller.add(piece.count, of: reading)
        }
      }
      teller.finish(reading)
    }
  }
}

/// Tells of one body; of one that is sent, each time that it is read.
private final class ProgressTeller: Sendable {
  private struct State {
    /// The number of the reading.
    var reading = 0
    /// Nil before the body is read, and once its end was told.
    var meter: ProgressMeter?
    var length: Int64?
    /// The bytes that were handed over, or are about to be, and those of them that were counted.
    var handed: Int64 = 0
    var counted: Int64 = 0
  }

  private let state: Lock<State>
  /// Held while one is told.
  private let telling = Lock(())
  private let counter: ProgressCounter

  init(_ counter: ProgressCounter, _ meter: ProgressMeter? = nil) {
    state = Lock(State(meter: meter))
    self.counter = counter
  }

  /// Begins to count a body that is read from its start; returns the number of the reading. What one before it says no longer counts.
  func begin(_ meter: ProgressMeter, length: Int64?) -> Int {
    state.withLock { state in
      state = State(reading: state.reading + 1, meter: meter, length: length)
      return state.reading
    }
  }

  /// Notes that the next bytes are handed over.
  func hand(over count: Int, of reading: Int) {
    state.withLock { if $0.reading == reading { $0.handed += Int64(count) } }
  }

  func add(_ count: Int, of reading: Int = 0) {
    tell { state, now in
      guard state.reading == reading else { return nil }
      state.counted += Int64(count)
      return state.meter?.add(count, at: now)
    }
  }

  func finish(_ reading: Int = 0) { end { $0.reading == reading } }

  /// Tells of the end of a body of which the last bytes were handed over, and perhaps not counted yet: the answer to all of it
  /// may come before.
  func finishWhereHandedOver() { end { $0.length == $0.handed } }

  private func end(where hasEnded: (State) -> Bool) {
    tell { state, now in
      guard var meter = state.meter, hasEnded(state) else { return nil }
      state.meter = nil
      _ = meter.add(Int(max(0, state.handed - state.counted)), at: now)
      return meter.finish(at: now)
    }
  }

  /// Tells what `change` makes of the state, one after the other: nothing comes after the end.
  private func tell(_ change: (inout State, Duration) -> TransferProgress?) {
    let now = counter.clock.now
    telling.withLock { _ in
      if let progress = state.withLock({ change(&$0, now) }) { counter.tell(progress) }
    }
  }
}

/// A body whose bytes are counted as they are read.
private final class CountedBody: HTTPBodySource {
  private let body: HTTPResponseBody
  private let teller: ProgressTeller

  init(body: HTTPResponseBody, teller: ProgressTeller) {
    self.body = body
    self.teller = teller
  }

  func next() async throws -> Data? {
    let chunk = try await body.next()
    if let chunk { teller.add(chunk.count) } else { teller.finish() }
    return chunk
  }

  func cancel() { body.cancel() }

  var trailers: HTTPHeaders { body.trailers }
  var timings: TransferTimings? { body.timings }
}
