import Dispatch
import ErrandFoundation

/// Records what goes to the network, and writes it to a file on a queue of its own.
final class ReplayRecorder: Sendable {
  private struct State {
    /// The number of requests that were sent: their order is that of the recording.
    var count = 0
    var entries: [(number: Int, entry: HTTPArchive.Entry)] = []
    var isWriting = false
    var isWritten = true
    var failure: (any Error)?
    var waiters: [Waiter<Void>] = []
  }

  private let file: URL
  private let base: HTTPArchive
  private let options: ReplayOptions
  private let log: TextSink
  private let state = Lock(State())
  private let writer = DispatchQueue(label: "errand.replay", qos: .utility)

  init(into file: URL, after base: HTTPArchive?, _ options: ReplayOptions, log: TextSink) {
    self.file = file
    self.base = base ?? HTTPArchive(entries: [])
    self.options = options
    self.log = log
  }

  /// Sends a request, and records it once the body of its response was read to its end.
  func record(_ request: HTTPRequest, _ body: ReplayBody, over transport: any Transport) async throws -> HTTPResponse {
    let number = state.withLock { state in
      state.count += 1
      return state.count
    }
    let start = (date: Date(), instant: ContinuousClock.now)
    var response = try await transport.send(request)
    var head = response
    head.body = HTTPResponseBody()
    let (answered, live) = (ContinuousClock.now - start.instant, response.body)
    let isSuccess = head.status.kind == .success
    let tee = ReplayTee(live, limit: options.maximumBodySize, keepsPart: !isSuccess) {
      [self, head] data, size, trailers in
      var exchange = sent(request, body)
      (exchange.answered, exchange.ended) = (answered, ContinuousClock.now - start.instant)
      exchange.timings = live.timings?.withoutAddress
      exchange.response = received(head, data, size, trailers)
      add(HTTPArchive.Entry(recorded: exchange, at: start.date), number)
    }
    if live.isInMemory {
      let trailers = live.trailers
      let data = try await tee.collect(upTo: .max)
      response.body = HTTPResponseBody(data, trailers: trailers)
    } else {
      response.body = HTTPResponseBody(tee)
    }
    return response
  }

  // MARK: What is recorded

  private func sent(_ request: HTTPRequest, _ body: ReplayBody) -> RecordedCall.Exchange {
    let redaction = options.redaction.hiding(request.options.credentialHeaders)
    var exchange = RecordedCall.Exchange(
      attempt: 1, method: request.method, url: redaction(request.url), headers: redaction.recorded(request.headers),
      sent: .zero)
    guard !request.body.isEmpty else { return exchange }
    switch body {
    case .data(let data): exchange.body = recorded(data, data.count, of: request.headers.mediaType)
    case .unread(let reason):
      exchange.body = RecordedCall.Body(type: request.headers.mediaType?.rawValue, note: reason)
    }
    return exchange
  }

  private func received(
    _ head: HTTPResponse, _ data: Data, _ size: Int, _ trailers: HTTPHeaders
  ) -> RecordedCall.Response {
    var response = RecordedCall.Response(
      status: head.status, version: head.version, headers: options.redaction.recorded(head.headers),
      isConnectionReused: head.isConnectionReused)
    let body = recorded(data, size, of: head.mediaType)
    if let note = body.note, body.data == nil {
      log.write("recording to \(file.path): a body is missing, and its response cannot be played: \(note)")
    }
    response.body = body
    if !trailers.isEmpty { response.trailers = options.redaction.recorded(trailers) }
    return response
  }

  private func recorded(_ data: Data, _ size: Int, of type: MediaType?) -> RecordedCall.Body {
    guard size == data.count else {
      let note = Redaction.placeholder(for: size, over: options.maximumBodySize)
      return RecordedCall.Body(type: type?.rawValue, size: size, note: note)
    }
    var body = options.redaction.recorded(data, type: type, limit: options.maximumBodySize)
    if body.text == nil, options.keepsBytes(of: type) { body.data = data }
    return body
  }

  // MARK: The writer

  private func add(_ entry: HTTPArchive.Entry, _ number: Int) {
    let isIdle = state.withLock { state -> Bool in
      let index = state.entries.lastIndex { $0.number < number }.map { $0 + 1 } ?? 0
      state.entries.insert((number, entry), at: index)
      state.isWritten = false
      defer { state.isWriting = true }
      return !state.isWriting
    }
    guard isIdle else { return }
    TaskRecorder.beginWriting()
    writer.async { self.writeAll() }
  }

  private func writeAll() {
    while let entries = next() {
      var archive = base
      archive.entries += entries
      do {
        try PrivateFolder.make(file.deletingLastPathComponent())
        try archive.write(to: file)
        state.withLock { $0.failure = nil }
      } catch {
        state.withLock { $0.failure = error }
        log.write("recording to \(file.path) fails: \(error)")
      }
    }
    TaskRecorder.endWriting()
  }

  /// The entries to write; nil where all are written, and the waiters are resumed.
  private func next() -> [HTTPArchive.Entry]? {
    let (entries, waiters) = state.withLock { state -> ([HTTPArchive.Entry]?, [Waiter<Void>]) in
      guard state.isWritten else {
        state.isWritten = true
        return (state.entries.map(\.entry), [])
      }
      state.isWriting = false
      defer { state.waiters = [] }
      return (nil, state.waiters)
    }
    for waiter in waiters { waiter.resume() }
    return entries
  }

  /// Returns when all is written; throws what kept the last of it from that.
  func finish() async throws {
    await answer { waiter in
      state.withLock { state -> Void? in
        guard state.isWriting else { return () }
        state.waiters.append(waiter)
        return nil
      }
    }
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }
}

extension HTTPArchive.Entry {
  /// An entry of a request that belongs to no call.
  fileprivate init(recorded exchange: RecordedCall.Exchange, at start: Date) {
    let timings = HTTPArchive.Timings(exchange)
    self.init(
      startedDateTime: start.formatted(RecordingEntry.dateFormat), time: timings.total,
      request: HTTPArchive.Request(exchange), response: HTTPArchive.Response(exchange), timings: timings)
  }
}
