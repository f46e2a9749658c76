import Foundation

/// The content of an echo or a recording of a call: every request that was sent, and what came back.
struct ExchangeRecord: Sendable {
  struct Attempt: Sendable {
    let number: Int
    let request: HTTPRequest
    var response: HTTPResponse?
    /// The body, where it is small enough to be shown.
    var body: Data?
    /// The size of the body.
    var size = 0
    var failure: String?
    var duration: Duration = .zero
  }

  var attempts: [Attempt] = []
  /// The start of the call.
  let startedAt = Date()

  /// The exchange for people to read, secrets hidden.
  func text(_ plan: TaskPlan, _ configuration: ServerConfiguration, _ record: FlightRecord, _ outcome: CallOutcome)
    -> String
  {
    let style = plan.recordingStyle
    // Failures and the timeline name the URL, and whatever an app's own errors say.
    let isHidden = !style.contains(.url)
    var lines = ["\(plan.taskName): \(isHidden ? outcome.name : "\(CallMoment.callEnded(outcome))")"]
    if !isHidden, !plan.comment.isEmpty { lines.append(plan.comment) }
    for (index, attempt) in attempts.enumerated() {
      if attempts.count > 1 { lines += ["", "Attempt \(index + 1) of \(attempts.count)"] }
      lines += [""] + request(attempt, style, configuration)
      lines += [""] + answer(attempt, style, configuration)
    }
    if isHidden { return lines.joined(separator: "\n") + "\n" }
    lines += ["", "Timeline"] + record.entries.map { "  \($0.time.formattedSeconds)  \($0.moment)" }
    return lines.joined(separator: "\n") + "\n"
  }

  private func request(_ attempt: Attempt, _ style: RecordingStyle, _ configuration: ServerConfiguration) -> [String] {
    let request = attempt.request
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

  private func answer(_ attempt: Attempt, _ style: RecordingStyle, _ configuration: ServerConfiguration) -> [String] {
    let time = attempt.duration.formattedSeconds
    guard let response = attempt.response else {
      return ["No response after \(time)\(style.contains(.url) ? ": \(attempt.failure ?? "cancelled")" : "")"]
    }
    var lines = ["\(response.status) after \(time)"]
    if style.contains(.headers) { lines += fields(configuration.redaction(response.headers)) }
    if style.contains(.url), let failure = attempt.failure { lines.append(failure) }
    let limit = configuration.maxLoggedDownloadSize
    guard style.contains(.download), let body = attempt.body else { return lines }
    guard body.isEmpty else {
      return lines + ["", configuration.redaction.body(body, type: response.mediaType, limit: limit)]
    }
    // Of a body that is dropped, no more is kept than is shown.
    return attempt.size > limit ? lines + ["", Redaction.placeholder(for: attempt.size, over: limit)] : lines
  }

  private func fields(_ headers: HTTPHeaders) -> [String] { headers.map { "\($0.name): \($0.value)" } }
}

extension CallOutcome {
  /// The outcome without its details.
  fileprivate var name: String {
    switch self {
    case .succeeded: "call succeeded"
    case .failed: "call failed"
    case .cancelled: "call cancelled"
    }
  }
}

extension ExchangeRecord {
  /// The line of the index for the call: no more than the recording itself shows.
  func entry(
    _ plan: TaskPlan, _ method: HTTPMethod, _ url: String?, _ status: HTTPStatus?, _ outcome: CallOutcome,
    _ elapsed: Duration
  ) -> RecordingEntry {
    let isShown = plan.recordingStyle.contains(.url)
    // A call that failed has no final response, but its last attempt may have had one.
    let status = status ?? attempts.last?.response?.status
    return RecordingEntry(
      task: plan.taskName, tag: isShown ? plan.taskTag : nil,
      comment: isShown && !plan.comment.isEmpty ? plan.comment : nil, method: "\(method)", url: isShown ? url : nil,
      status: status?.code, outcome: outcome.word, startedAt: startedAt.formatted(RecordingEntry.dateFormat),
      seconds: elapsed.inSeconds, attempts: attempts.count)
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
