import ErrandFoundation

/// Tells of the bytes that go up and come down. It stands inside of all other steps: what they change is counted.
struct ProgressStep: PerAttemptStep {
  /// The number of the attempt.
  private let attempt: Int
  let clock: CallClock
  let tell: @Sendable (TransferProgress) -> Void

  /// What is counted at once of a body in memory.
  private static let pieceSize = 64 << 10

  init(of attempt: Int, clock: CallClock, tell: @escaping @Sendable (TransferProgress) -> Void) {
    self.attempt = attempt
    self.clock = clock
    self.tell = tell
  }

  func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
    var request = request
    let isBrief = request.body.data.map { $0.count <= Self.pieceSize } ?? false
    if !isBrief { request.body = counted(request.body) }
    var response = try await next(request)
    if isBrief { tellWhole(of: request.body) }
    if request.method == .head { return response }  // of what its length says nothing comes
    // RFC 9110 §8.6: the length is that of the packed body, and what comes here is unpacked.
    let isPacked = response.headers.contains(.contentEncoding)
    let total = isPacked ? nil : response.headers[.contentLength].flatMap { Int64($0) }
    let meter = ProgressMeter(.down, attempt: attempt, total: total, at: clock.now)
    response.body = HTTPResponseBody(CountedBody(body: response.body, teller: ProgressTeller(meter, self)))
    return response
  }

  /// Tells of a body that went up in one piece.
  private func tellWhole(of body: HTTPBody) {
    var meter = ProgressMeter(.up, attempt: attempt, total: body.data.map { Int64($0.count) }, at: clock.now)
    _ = meter.add(body.data?.count ?? 0, at: clock.now)
    tell(meter.finish(at: clock.now))
  }

  /// The same body, counted as it is read, from its start each time.
  private func counted(_ body: HTTPBody) -> HTTPBody {
    guard !body.isEmpty else { return body }
    let length: Int64?
    do { length = try body.length() } catch { return body }  // whoever sends it says why it cannot be read
    return .composed(
      length: length, isReplayable: body.isReplayable, type: body.mediaType, trailers: body.trailers,
      isInMemory: body.isInMemory
    ) { [self] sink in
      let teller = ProgressTeller(ProgressMeter(.up, attempt: attempt, total: length, at: clock.now), self)
      try await body.forEachCountedChunk { chunk in
        for start in stride(from: chunk.startIndex, to: chunk.endIndex, by: Self.pieceSize) {
          let piece = chunk[start..<min(start + Self.pieceSize, chunk.endIndex)]
          try await sink(piece)
          teller.add(piece.count)
        }
      }
      teller.finish()
    }
  }
}

/// Tells of one body.
private final class ProgressTeller: Sendable {
  private let meter: Lock<ProgressMeter>
  private let step: ProgressStep

  init(_ meter: ProgressMeter, _ step: ProgressStep) {
    self.meter = Lock(meter)
    self.step = step
  }

  func add(_ count: Int) {
    let now = step.clock.now
    if let progress = meter.withLock({ $0.add(count, at: now) }) { step.tell(progress) }
  }

  func finish() {
    let now = step.clock.now
    step.tell(meter.withLock { $0.finish(at: now) })
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
