import Dispatch
import Errand
import ErrandFoundation

/// Records requests that are sent to the network and writes them to a file on its own queue.
///
/// Entries are first added to a spool. The file is rewritten from the spool when requests stop arriving, when a quarter
/// of the data is new, and when the recording is finished. The file is therefore always complete, and the total amount
/// written is at most a few times the final size.
final class ReplayRecorder: Sendable {
  private struct State {
    /// The number of requests sent so far, which determines their order in the recording.
    var count: Int
    /// The entries waiting to be spooled. `bytes` is their approximate size.
    var entries: [(number: Int, entry: HTTPArchive.Entry, redacted: ReplaySpool.Redacted)] = []
    var bytes = 0
    var isWriting = false
    var failure: (any Error)?
    /// The number of lost responses, and the reason. `finish()` throws them once.
    var lost = 0
    var loss: (any Error)?
    var hasSaidHidden = false
  }

  private struct Store {
    var spool: ReplaySpool?
    var written: Int64 = 0
    var isWritten = true
  }

  private let file: URL
  private let base: HTTPArchive
  private let options: ReplayOptions
  private let log: LogOutput
  private let state: Lock<State>
  private let store = Lock(Store())
  /// Tracks whether entries are waiting to be written.
  private let rounds = Completion()
  private let writer = DispatchQueue(label: "errand.replay", qos: .utility)

  init(into file: URL, after base: HTTPArchive?, _ options: ReplayOptions, log: LogOutput) {
    self.file = file
    self.base = base ?? HTTPArchive(entries: [])
    self.options = options
    self.log = log
    state = Lock(State(count: base?.entries.count ?? 0))
    Self.files.withLock { $0[file.path, default: 0] += 1 }
  }

  deinit {
    Self.files.withLock { files in
      let count = files[file.path, default: 1] - 1
      files[file.path] = count > 0 ? count : nil
    }
  }

  /// The number of recorders per file.
  private static let files = Lock<[String: Int]>([:])

  /// Whether a recorder in this process may still write the file.
  static func isRecording(into file: URL) -> Bool { files.withLock { $0[file.path] != nil } }

  /// Sends a request and records it once its response body has been read to the end. The new entry replaces the entry
  /// at index `place`, if given.
  func record(
    _ request: HTTPRequest, _ body: ReplayBody, over transport: any Transport, inPlaceOf place: Int? = nil
  ) async throws -> HTTPResponse {
    let style = ShownParts.of(request)?.style ?? .full
    guard style.contains(.url) else {
      sayHidden()
      return try await transport.send(request)
    }
    let number = state.withLock { state in
      guard place == nil else { return place ?? 0 }
      defer { state.count += 1 }
      return state.count
    }
    let start = (date: Date(), instant: ContinuousClock.now)
    var response = try await transport.send(request)
    var head = response
    head.body = HTTPResponseBody()
    let (answered, live) = (ContinuousClock.now - start.instant, response.body)
    let isSuccess = head.status.kind == .success
    let tee = ReplayTee(live, limit: options.maximumBodySize, keepsPart: !isSuccess) {
      [self, head] data, size, isWhole, trailers in
      let redacted = ReplaySpool.Redacted(by: options.redaction(for: request), learned: LearnedSecrets.count)
      var exchange = sent(request, body, style)
      (exchange.answered, exchange.ended) = (answered, ContinuousClock.now - start.instant)
      exchange.timings = live.timings?.withoutAddress
      exchange.response = received(head, data, size, trailers, for: request, style)
      if !isWhole, size > 0 { exchange.response?.body?.size = nil }  // unknown for a partial body
      add(HTTPArchive.Entry(recorded: exchange, at: start.date), number, redacted)
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

  /// Logs once that requests are not recorded if their task hides the URL.
  private func sayHidden() {
    let isFirst = state.withLock { state in
      defer { state.hasSaidHidden = true }
      return !state.hasSaidHidden
    }
    guard isFirst else { return }
    log.write("recording to \(file.path): requests are not recorded if their task hides the URL from recordings")
  }

  // MARK: What is recorded

  private static let unshown = "the task hides the body"

  private func sent(_ request: HTTPRequest, _ body: ReplayBody, _ style: RecordingStyle) -> RecordedCall.Exchange {
    let redaction = options.redaction(for: request)
    var exchange = RecordedCall.Exchange(attempt: 1, method: request.method, url: redaction(request.url), sent: .zero)
    if style.contains(.headers) { exchange.headers = redaction(request.headers) }
    guard !request.body.isEmpty else { return exchange }
    let type = request.headers.mediaType
    switch body {
    case _ where !style.contains(.upload): exchange.body = .init(type: type?.rawValue, note: Self.unshown)
    case .data(let data): exchange.body = recorded(data, data.count, of: type, redaction)
    case .unread(let reason): exchange.body = RecordedCall.Body(type: type?.rawValue, note: reason)
    }
    return exchange
  }

  private func received(
    _ head: HTTPResponse, _ data: Data, _ size: Int, _ trailers: HTTPHeaders, for request: HTTPRequest,
    _ style: RecordingStyle
  ) -> RecordedCall.Response {
    let redaction = options.redaction(for: request)
    var response = RecordedCall.Response(
      status: head.status, version: head.version, isConnectionReused: head.isConnectionReused)
    if style.contains(.headers) { response.headers = redaction(head.headers) }
    let isShown = style.contains(.download) || size == 0
    let body =
      isShown
      ? recorded(data, size, of: head.mediaType, redaction)
      : RecordedCall.Body(type: head.mediaType?.rawValue, size: size, note: Self.unshown)
    if let note = body.note, body.data == nil {
      log.write("recording to \(file.path): a body is missing, so its response cannot be replayed: \(note)")
    }
    response.body = body
    if !trailers.isEmpty, style.contains(.headers) { response.trailers = redaction(trailers) }
    return response
  }

  private func recorded(_ data: Data, _ size: Int, of type: MediaType?, _ redaction: Redaction) -> RecordedCall.Body {
    guard size == data.count else {
      let note = Redaction.placeholder(for: size, over: options.maximumBodySize)
      return RecordedCall.Body(type: type?.rawValue, size: size, note: note)
    }
    var body = redaction.recorded(data, type: type, limit: options.maximumBodySize)
    if body.text == nil, options.keepsBytes(of: type), !redaction.hidesBody(of: type) { body.data = data }
    return body
  }

  // MARK: The writer

  private func add(_ entry: HTTPArchive.Entry, _ number: Int, _ redacted: ReplaySpool.Redacted) {
    let size = entry.size
    let (hasRoom, isIdle) = state.withLock { state -> (Bool, Bool) in
      guard state.entries.isEmpty || state.bytes + size <= TaskRecorder.room else { return (false, false) }
      state.entries.append((number, entry, redacted))
      state.bytes += size
      if !state.isWriting { rounds.begin() }
      defer { state.isWriting = true }
      return (true, !state.isWriting)
    }
    guard hasRoom else {
      return lose(1, TaskError(.fileNotWritable, "they arrive faster than they can be written", phase: .finishing))
    }
    guard isIdle else { return }
    TaskRecorder.beginWriting()
    writer.async {
      self.spool()
      self.writeLater()
    }
  }

  /// The time without new entries after which the file is written, in milliseconds.
  private static let pause = 100

  private func writeLater() {
    writer.asyncAfter(deadline: .now() + .milliseconds(Self.pause)) {
      let isQuiet = !self.spool()
      let isMuch = self.store.withLock { ($0.spool?.size ?? 0) - $0.written > $0.written / 4 }
      if isQuiet || isMuch { self.write() }
      if !self.ends() { self.writeLater() }
    }
  }

  /// Moves waiting entries to the spool. Returns `false` if nothing is waiting.
  @discardableResult
  private func spool() -> Bool {
    let entries = state.withLock { state in
      defer { (state.entries, state.bytes) = ([], 0) }
      return state.entries
    }
    guard !entries.isEmpty else { return false }
    var spooled = 0
    do {
      try store.withLock { store in
        store.isWritten = false
        var spool = try store.spool ?? ReplaySpool(base.entries, in: file.deletingLastPathComponent())
        defer { store.spool = spool }  // keep the entries before the one that failed
        for (number, entry, redacted) in entries {
          try spool.put(entry, number, redacted)
          spooled += 1
        }
      }
    } catch {
      lose(entries.count - spooled, error)
      store.withLock { if $0.spool == nil { $0.isWritten = true } }  // there is nothing to write
    }
    return true
  }

  private func write() {
    do {
      let isNew = try store.withLock { store in
        guard var spool = store.spool, !store.isWritten else { return false }
        try spool.redactAgain()
        store.spool = spool
        try spool.write(base, to: file)
        (store.isWritten, store.written) = (true, spool.size)
        return true
      }
      if isNew { state.withLock { $0.failure = nil } }
    } catch {
      fail(error)
      store.withLock { $0.isWritten = true }  // try again only when there are new entries
    }
  }

  private func lose(_ count: Int, _ error: any Error) {
    let isFirst = state.withLock { state in
      defer { (state.lost, state.loss) = (state.lost + count, error) }
      return state.lost == 0
    }
    if isFirst { log.write("recording to \(file.path): responses are missing: \(Self.reason(error))") }
  }

  private static func reason(_ error: any Error) -> String {
    (error as? TaskError)?.reason ?? TaskRecorder.words(of: error)
  }

  private func fail(_ error: any Error) {
    state.withLock { $0.failure = error }
    log.write("recording to \(file.path) failed: \(error)")
  }

  /// Returns whether everything has been written. If so, lets `finish()` return.
  private func ends() -> Bool {
    let isWritten = store.withLock { $0.isWritten }
    let hasEnded = state.withLock { state -> Bool in
      guard isWritten, state.entries.isEmpty else { return false }
      defer { state.isWriting = false }
      return state.isWriting
    }
    if hasEnded {
      rounds.end()
      TaskRecorder.endWriting()
    }
    return isWritten && state.withLock { !$0.isWriting }
  }

  /// Waits until everything has been written. Throws the error if writing failed, or `CancellationError`.
  func finish() async throws {
    writer.async {  // skip the delay
      self.spool()
      self.write()
      _ = self.ends()
    }
    await rounds.wait()
    try Task.checkCancellation()
    let (failure, lost, loss) = state.withLock { state in
      defer { (state.lost, state.loss) = (0, nil) }
      return (state.failure, state.lost, state.loss)
    }
    if let loss {
      throw TaskError(
        .fileNotWritable, "\(lost) responses are missing from \(file.path): \(Self.reason(loss))", phase: .finishing,
        underlying: loss)
    }
    if let failure { throw failure }
  }
}

extension HTTPArchive.Entry {
  fileprivate init(recorded exchange: RecordedCall.Exchange, at start: Date) {
    let timings = HTTPArchive.Timings(exchange)
    self.init(
      startedDateTime: start.formatted(RecordingEntry.dateFormat), time: timings.total,
      request: HTTPArchive.Request(exchange), response: HTTPArchive.Response(exchange), timings: timings)
  }

  fileprivate var size: Int {
    let fields = [request.headers, response.headers].reduce(0) { $0 + $1.size + $1.count * 36 }
    return 1500 + fields + (request.postData?.text.utf8.count ?? 0) + (response.content.text?.utf8.count ?? 0)
  }
}
