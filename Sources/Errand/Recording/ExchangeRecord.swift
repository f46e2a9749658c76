import Foundation

/// The content of an echo or a recording of a call: every request that was sent, and what came back.
struct ExchangeRecord: Sendable {
  /// A request that was sent, and what came back. An attempt has several where it is redirected.
  struct Exchange: Sendable {
    let attempt: Int
    let request: HTTPRequest
    var response: HTTPResponse?
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

  /// A request of an attempt is sent.
  mutating func begin(_ request: HTTPRequest, of attempt: Int) {
    exchanges.append(Exchange(attempt: attempt, request: request))
  }

  /// An attempt has ended, with the response and the body of its last request where they came.
  mutating func end(_ record: AttemptRecord, _ outcome: Outcome?) {
    guard let index = exchanges.lastIndex(where: { $0.attempt == record.number }) else { return }
    exchanges[index].record = record
    exchanges[index].response = outcome?.response
    guard let outcome, outcome.isRead else { return }
    exchanges[index].body = outcome.shown ?? outcome.data
    exchanges[index].size = outcome.size
  }

  /// The exchange for people to read, secrets hidden.
  func text(_ plan: TaskPlan, _ configuration: ServerConfiguration, _ record: FlightRecord, _ outcome: CallOutcome)
    -> String
  {
    let style = plan.recordingStyle
    // Failures and the timeline name the URL, and whatever an app's own errors say.
    let isHidden = !style.contains(.url)
    var lines = ["\(plan.taskName): \(isHidden ? "call \(outcome.word)" : "\(CallMoment.callEnded(outcome))")"]
    if !isHidden, !plan.comment.isEmpty { lines.append(plan.comment) }
    for (index, exchange) in exchanges.enumerated() {
      if exchanges.count > 1 { lines += ["", "Attempt \(index + 1) of \(exchanges.count)"] }
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
    if style.contains(.headers) { lines += fields(configuration.redaction(request.headers)) }
    guard style.contains(.upload), !request.body.isEmpty else { return lines }
    let type = request.headers[.contentType].map { MediaType($0) }
    let text =
      request.body.data.map {
        configuration.redaction.body($0, type: type, limit: configuration.maxLoggedUploadSize)
      } ?? "<a body that is read as it is sent>"
    return lines + ["", text]
  }

  private func answer(_ exchange: Exchange, _ style: RecordingStyle, _ configuration: ServerConfiguration) -> [String] {
    let time = (exchange.record?.duration ?? .zero).formattedSeconds
    let failure = exchange.record?.failure
    guard let response = exchange.response else {
      return ["No response after \(time)\(style.contains(.url) ? ": \(failure ?? "cancelled")" : "")"]
    }
    var lines = ["\(response.status) after \(time)"]
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
    _ plan: TaskPlan, _ method: HTTPMethod, _ url: String?, _ status: HTTPStatus?, _ outcome: CallOutcome,
    _ elapsed: Duration
  ) -> RecordingEntry {
    let isShown = plan.recordingStyle.contains(.url)
    // A call that failed has no final response, but its last attempt may have had one.
    let status = status ?? exchanges.last?.response?.status
    return RecordingEntry(
      task: plan.taskName, tag: isShown ? plan.taskTag : nil,
      comment: isShown && !plan.comment.isEmpty ? plan.comment : nil, method: "\(method)", url: isShown ? url : nil,
      status: status?.code, outcome: outcome.word, startedAt: startedAt.formatted(RecordingEntry.dateFormat),
      seconds: elapsed.inSeconds, attempts: exchanges.count)
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
