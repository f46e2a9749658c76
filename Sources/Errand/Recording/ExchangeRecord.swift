import ErrandFoundation

/// The content of an echo or a recording of a call: every request that was sent, and what came back.
struct ExchangeRecord: Sendable {
  /// A request that was sent, and what came back. An attempt has several where it is redirected, or a step sends again.
  struct Exchange: Sendable {
    let attempt: Int
    var request: HTTPRequest
    var response: HTTPResponse?
    /// The failure in one line, secrets hidden, where no response came.
    var failure: String?
    /// The body, where it is small enough to be shown.
    var body: Data?
    /// The size of the body.
    var size = 0
    /// The record of the attempt, for its last request; nil while it is under way.
    var record: AttemptRecord?
  }

  private var exchanges: [Exchange] = []
  /// The start of the call.
  let startedAt = Date()

  /// Adds a request of an attempt.
  mutating func begin(_ request: HTTPRequest, of attempt: Int) {
    exchanges.append(Exchange(attempt: attempt, request: request))
  }

  /// Replaces the last request of an attempt by the one that is sent.
  mutating func amend(_ request: HTTPRequest, of attempt: Int) {
    if let index = last(of: attempt) { exchanges[index].request = request }
  }

  /// Adds the head of the response to the last request of an attempt.
  mutating func respond(_ response: HTTPResponse, to attempt: Int) {
    guard let index = last(of: attempt) else { return }
    var head = response
    head.body = HTTPResponseBody()  // not the body, which would be held with all that holds it
    exchanges[index].response = head
  }

  /// Adds the failure of the last request of an attempt.
  mutating func fail(_ failure: String, of attempt: Int) {
    if let index = last(of: attempt) { exchanges[index].failure = failure }
  }

  /// Ends an attempt, with the response and the body that its steps made of the last one where there are any.
  mutating func end(_ record: AttemptRecord, _ outcome: Outcome?) {
    guard let index = last(of: record.number) else { return }
    exchanges[index].record = record
    guard let outcome else { return }
    exchanges[index].response = outcome.response
    guard outcome.isRead else { return }
    exchanges[index].body = outcome.shown ?? outcome.data
    exchanges[index].size = outcome.size
  }

  private func last(of attempt: Int) -> Int? { exchanges.lastIndex { $0.attempt == attempt } }

  /// The exchange for people to read, secrets hidden.
  func text(_ plan: TaskPlan, _ configuration: ServerConfiguration, _ record: FlightRecord, _ outcome: CallOutcome)
    -> String
  {
    let style = plan.recordingStyle
    // Failures and the timeline name the URL, and whatever an app's own errors say.
    let isHidden = !style.contains(.url)
    var lines = ["\(plan.taskName): \(isHidden ? "call \(outcome.word)" : "\(CallMoment.callEnded(outcome))")"]
    if !isHidden, !plan.comment.isEmpty { lines.append(plan.comment) }
    if !isHidden, exchanges.isEmpty, !record.title.isEmpty { lines += ["", record.title] }
    for (index, exchange) in exchanges.enumerated() {
      if exchanges.count > 1 {
        lines += ["", "Request \(index + 1) of \(exchanges.count), attempt \(exchange.attempt)"]
      }
      lines += [""] + request(exchange, style, configuration)
      lines += [""] + answer(exchange, style, configuration)
    }
    if isHidden { return lines.joined(separator: "\n") + "\n" }
    lines += ["", "Timeline"] + record.entries.map { "  \($0.time.formattedSeconds)  \($0.moment)" }
    return lines.joined(separator: "\n") + "\n"
  }

  private func request(_ exchange: Exchange, _ style: RecordingStyle, _ configuration: ServerConfiguration) -> [String]
  {
    let request = exchange.request
    var lines = ["\(request.method) \(style.contains(.url) ? configuration.redaction(request.url) : "<hidden>")"]
    if style.contains(.headers) {
      var redaction = configuration.redaction
      redaction.headers.formUnion(request.options.credentialHeaders)
      lines += fields(redaction(request.headers))
    }
    guard style.contains(.upload), !request.body.isEmpty else { return lines }
    let type = request.headers[.contentType].map { MediaType($0) }
    let text =
      request.body.data.map {
        configuration.redaction.body($0, type: type, limit: configuration.maxLoggedUploadSize)
      } ?? "<a body that is read as it is sent>"
    return lines + ["", text]
  }

  private func answer(_ exchange: Exchange, _ style: RecordingStyle, _ configuration: ServerConfiguration) -> [String] {
    // The time is that of the attempt, of which an earlier request took a part.
    let time = exchange.record.map { " after \($0.duration.formattedSeconds)" } ?? ""
    let failure = exchange.failure ?? exchange.record?.failure
    guard let response = exchange.response else {
      return ["No response\(time)\(style.contains(.url) ? ": \(failure ?? "cancelled")" : "")"]
    }
    var lines = ["\(response.status)\(time)"]
    if style.contains(.headers) { lines += fields(configuration.redaction(response.headers)) }
    if style.contains(.url), let failure { lines.append(failure) }
    let limit = configuration.maxLoggedDownloadSize
    guard style.contains(.download), let body = exchange.body else { return lines }
    guard body.isEmpty else {
      return lines + ["", configuration.redaction.body(body, type: response.mediaType, limit: limit)]
    }
    // Of a body that is dropped, no more is kept than is shown.
    return exchange.size > limit ? lines + ["", Redaction.placeholder(for: exchange.size, over: limit)] : lines
  }

  private func fields(_ headers: HTTPHeaders) -> [String] { headers.map { "\($0.name): \($0.value)" } }
}

extension ExchangeRecord {
  /// The line of the index for the call: no more than the recording itself shows.
  func entry(
    _ plan: TaskPlan, _ configuration: ServerConfiguration, _ record: FlightRecord, _ outcome: CallOutcome,
    _ ended: CallState.Ended
  ) -> RecordingEntry {
    let isShown = plan.recordingStyle.contains(.url)
    let url = ended.shown.url.map { configuration.redaction($0) }
    // A call that failed has no final response, but its last attempt may have had one.
    let status = ended.response?.status ?? exchanges.last?.response?.status
    return RecordingEntry(
      task: plan.taskName, tag: isShown ? plan.taskTag : nil,
      comment: isShown && !plan.comment.isEmpty ? plan.comment : nil,
      method: "\(ended.shown.method ?? plan.httpMethod)",
      url: isShown ? url : nil, status: status?.code, outcome: outcome.word,
      startedAt: startedAt.formatted(RecordingEntry.dateFormat),
      seconds: (record.entries.last?.time ?? .zero).inSeconds, attempts: record.attempts.count)
  }
}

extension CallOutcome {
  /// The outcome in one word.
  var word: String {
    switch self {
    case .succeeded: "succeeded"
    case .failed: "failed"
    case .cancelled: "cancelled"
    }
  }
}
