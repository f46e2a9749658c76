import ErrandFoundation

/// The requests and responses of a running call. The call's echo and recordings are created from them.
struct ExchangeRecord: Sendable {
  struct Exchange: Sendable {
    let attempt: Int
    var request: HTTPRequest
    /// The time at which the request was sent. Like `answered` and `ended`, it is relative to the start of the call.
    let sent: Duration
    var queued: Duration = .zero
    var answered: Duration?
    var ended: Duration?
    var response: HTTPResponse?
    /// The redacted error on one line, if no response arrived.
    var failure: String?
    /// The body, if it is small enough to be displayed.
    var body: Data?
    var size = 0
    /// The attempt's record, stored with its last request. `nil` while the attempt is running.
    var record: AttemptRecord?
  }

  private var exchanges: [Exchange] = []
  private let startedAt = Date()

  mutating func begin(_ request: HTTPRequest, of attempt: Int, at time: Duration) {
    if let index = last(of: attempt), exchanges[index].ended == nil { exchanges[index].ended = time }
    exchanges.append(Exchange(attempt: attempt, request: request, sent: time))
  }

  mutating func wait(of attempt: Int, _ queued: Duration) {
    if let index = last(of: attempt) { exchanges[index].queued += queued }
  }

  /// Replaces an attempt's last request with the one actually sent.
  mutating func amend(_ request: HTTPRequest, of attempt: Int) {
    if let index = last(of: attempt) { exchanges[index].request = request }
  }

  mutating func respond(_ response: HTTPResponse, to attempt: Int, at time: Duration) {
    guard let index = last(of: attempt) else { return }
    exchanges[index].response = response.head
    exchanges[index].answered = time
  }

  mutating func fail(_ failure: String, of attempt: Int, at time: Duration) {
    guard let index = last(of: attempt) else { return }
    exchanges[index].failure = failure
    exchanges[index].ended = time
  }

  /// Ends an attempt. `outcome` is the response and the body that the steps returned, if any.
  mutating func end(_ record: AttemptRecord, _ outcome: Outcome?, at time: Duration) {
    guard let index = last(of: record.number) else { return }
    exchanges[index].record = record
    exchanges[index].ended = time
    guard let outcome else { return }
    exchanges[index].response = outcome.response.head
    guard let shown = outcome.shown else { return }
    exchanges[index].body = shown
    exchanges[index].size = outcome.size
  }

  /// The approximate number of bytes held in memory.
  var size: Int { exchanges.reduce(2000) { $0 + 3000 + ($1.body?.count ?? 0) + ($1.request.body.data?.count ?? 0) } }

  private func last(of attempt: Int) -> Int? { exchanges.lastIndex { $0.attempt == attempt } }

  // MARK: Recorded call

  /// Returns the redacted recording of the call, limited to the parts that `style` includes.
  func recorded(
    _ call: Call, _ ended: CallState.Ended, _ outcome: CallOutcome, _ errorType: String?, _ record: FlightRecord,
    showing style: RecordingStyle
  ) -> RecordedCall {
    let (plan, redaction, attempts) = (call.plan, call.snapshot.configuration.redaction, record.attempts)
    // Errors and the timeline can contain the URL and text from the app's own errors, so hide them if the URL is
    // hidden.
    let isShown = style.contains(.url)
    if !record.entries.contains(where: { if case .decoded = $0.moment { true } else { false } }) {
      for exchange in exchanges {
        if let body = exchange.body { PayloadSecrets.learn(from: body, exchange.response?.mediaType, of: call) }
      }
    }
    let exchanges = exchanges.map { recorded($0, style, call.snapshot) }
    let moments = record.entries.map(RecordedCall.Moment.init)
    let answer = exchanges.isEmpty ? ended.response : nil
    return RecordedCall(
      id: call.number, task: plan.taskName, tag: isShown ? redaction(text: plan.taskTag) : nil,
      comment: isShown && !plan.comment.isEmpty ? redaction(text: plan.comment) : nil,
      method: ended.shown?.method ?? plan.httpMethod, url: isShown ? (ended.shown?.url).map { redaction($0) } : nil,
      // A failed call has no final response, but its last attempt may have one.
      status: ended.response?.status ?? exchanges.last?.response?.status ?? attempts.last?.status,
      outcome: outcome.kind,
      failure: isShown ? outcome.failure : nil, errorType: outcome.kind == .failed ? errorType : nil,
      startedAt: startedAt, duration: record.entries.last?.time ?? .zero,
      attemptCount: attempts.count, isHidden: !isShown, exchanges: exchanges,
      answer: answer.map { self.recorded($0, style, redaction) }, moments: isShown ? moments : [],
      diagnosis: record.diagnosis(attempts))
  }

  private func recorded(
    _ exchange: Exchange, _ style: RecordingStyle, _ snapshot: ServerSnapshot
  ) -> RecordedCall.Exchange {
    let (request, redaction) = (exchange.request, snapshot.configuration.redaction)
    let failure = exchange.failure ?? exchange.record?.failure
    var recorded = RecordedCall.Exchange(
      attempt: exchange.attempt, method: request.method,
      url: style.contains(.url) ? redaction(request.url) : nil,
      failure: style.contains(.url) ? failure : nil, sent: exchange.sent, answered: exchange.answered,
      ended: exchange.ended, duration: exchange.record?.duration, queued: exchange.queued,
      timings: style.contains(.url) ? exchange.record?.timings : exchange.record?.timings?.withoutAddress)
    if style.contains(.headers) {
      recorded.headers = redaction.hiding(request.options.credentialHeaders)(request.headers)
    }
    if !request.body.isEmpty { recorded.body = body(of: request, style, snapshot) }
    recorded.response = exchange.response.map { self.recorded($0, style, redaction) }
    if style.contains(.download) { recorded.response?.body = body(of: exchange, snapshot) }
    return recorded
  }

  private func body(
    of request: HTTPRequest, _ style: RecordingStyle, _ snapshot: ServerSnapshot
  ) -> RecordedCall.Body {
    // Without this note, the request would appear to have no body.
    guard style.contains(.upload) else { return RecordedCall.Body(note: "<hidden body>") }
    let (type, limit) = (request.headers.mediaType, snapshot.configuration.maxLoggedUploadSize)
    guard let data = request.body.data else {
      return RecordedCall.Body(type: type?.rawValue, note: "<a body from a file or stream>")
    }
    return snapshot.configuration.redaction.recorded(data, type: type, limit: limit)
  }

  private func recorded(
    _ response: HTTPResponse, _ style: RecordingStyle, _ redaction: Redaction
  ) -> RecordedCall.Response {
    let trailers = style.contains(.headers) ? response.body.trailers : [:]
    return RecordedCall.Response(
      status: response.status, version: response.version,
      headers: style.contains(.headers) ? redaction(response.headers) : [:],
      trailers: trailers.isEmpty ? nil : redaction(trailers),
      isConnectionReused: response.isConnectionReused)
  }

  private func body(of exchange: Exchange, _ snapshot: ServerSnapshot) -> RecordedCall.Body? {
    guard let data = exchange.body else { return nil }
    let (type, limit) = (exchange.response?.mediaType, snapshot.configuration.maxLoggedDownloadSize)
    // A discarded body that exceeds the limit is not kept in memory.
    guard data.isEmpty, exchange.size > 0 else {
      return snapshot.configuration.redaction.recorded(data, type: type, limit: limit)
    }
    let note = exchange.size > limit ? Redaction.placeholder(for: exchange.size, over: limit) : nil
    return note.map { RecordedCall.Body(type: type?.rawValue, size: exchange.size, note: $0) }
  }
}

extension CallOutcome {
  fileprivate var kind: RecordedCall.Conclusion {
    switch self {
    case .succeeded: .succeeded
    case .failed: .failed
    case .cancelled: .cancelled
    }
  }

  fileprivate var failure: String? {
    if case .failed(let reason) = self { reason } else { nil }
  }
}
