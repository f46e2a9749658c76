package import ErrandFoundation

extension Call {
  /// 9. Checks the status, calls the hooks, and returns the result.
  func conclude<Value: Sendable>(
    _ outcome: consuming Outcome, finish: @Sendable (Outcome) async throws -> Value
  ) async throws -> Value {
    outcome.response.call = self
    noteFinal(outcome.response)
    guard outcome.isAccepted else { throw await refusal(outcome) }
    try refuseStandIn(outcome)
    if !outcome.isVerified { try verify(outcome.response) }
    if destination.isStream { return try await conclude(stream: outcome, finish: finish) }
    if !outcome.isRead {  // a per-call step or the cache returned the response, and no other step needs its body
      try await read(&outcome, as: outcome.intake)
    }
    if let written = written(outcome.response.body) {
      try checkCancellation()
      outcome.file = try written.publish { try publish($0, from: outcome.response) }
    }
    noteAccepted(outcome.response)
    if callsHooks { try await plan.task.postProcess(response: outcome.response) }
    let value = try await finish(outcome)
    if callsHooks { try await plan.task.postflight(response: outcome.response) }
    if let postflight = snapshot.configuration.postflight { try await postflight(plan.task, outcome.response) }
    return value
  }

  private func conclude<Value: Sendable>(
    stream outcome: Outcome, finish: @Sendable (Outcome) async throws -> Value
  ) async throws -> Value {
    do {
      if callsHooks { try await plan.task.postProcess(response: outcome.response) }
      let value = try await finish(outcome)
      try handOver(outcome.response)
      return value
    } catch {
      outcome.response.body.cancel()  // ends the attempt before the call ends
      throw error
    }
  }

  /// Passes an accepted response's head to the `verify` hooks of the task and the server. File downloads call this
  /// before they write anything.
  func verify(_ response: HTTPResponse) throws {
    do {
      try askHooks(of: response)
    } catch {
      response.body.cancel()
      throw error
    }
  }

  func isVerified(_ response: HTTPResponse) -> Bool { (try? askHooks(of: response)) != nil }

  private func askHooks(of response: HTTPResponse) throws {
    try plan.task.verify(response)
    try snapshot.configuration.verify?(plan.task, response)
  }

  /// Throws if a call that needs the entire body received a response without it, such as a 304 or an unrequested part.
  private func refuseStandIn(_ outcome: Outcome) throws {
    guard destination.wantsBody, !outcome.isWhole, !isFileCurrent(outcome.response) else { return }
    let response = outcome.response
    response.body.cancel()
    let unexpected = response.unexpected
    let (code, reason): (TaskError.Code, String) =
      switch response.status {
      case .notModified where response.confirmedVersion != nil:
        (.notModified, "the file was changed or removed while the request was under way: download it again")
      case .notModified: (.notModified, unexpected ?? HTTPResponse.currentCopy)
      case .partialContent: (.badStatus, unexpected ?? "the server sent only a part")
      case .ok, 203:
        (
          .badStatus,
          "the server sent the entire content instead of \(plan.range?.description ?? "a part") because it does not support Range: request the entire content, or use stream()"
        )
      default: (.badStatus, "the response has no body, so the file was not changed")
      }
    var error = TaskError(code, "\(response.status): \(reason)", phase: .finishing)
    error.status = response.status
    error.headers = snapshot.configuration.redaction(response.headers)
    throw error
  }

  /// The redaction for body text in error messages. `nil` if the task's recording style excludes bodies.
  var shownRedaction: Redaction? {
    plan.recordingStyle.contains(.download) ? snapshot.configuration.redaction : nil
  }

  private func refusal(_ outcome: Outcome) async -> TaskError {
    let (configuration, response) = (snapshot.configuration, outcome.response)
    let body = outcome.isRead ? outcome.data : await excerpt(of: response.body)
    let payload = errorPayload(body, response.mediaType)
    let shown = shownRedaction.flatMap { $0.hidesBody(of: response.mediaType) ? nil : $0 }
    let words = shown?.hidesPlaces == true ? nil : payload.flatMap { Self.words(of: $0) }
    let summary = words.map { shown?(text: $0).shortened } ?? shown?.summary(of: body, type: response.mediaType)
    var error = TaskError.badStatus(
      response, redaction: configuration.redaction, summary: summary ?? "", policy: redirectPolicy,
      showsFields: plan.recordingStyle.contains(.headers)
    )
    .with(response, body, configuration)
    error.payload = payload
    return error
  }

  /// Returns a payload's description, or `nil` if Swift would generate it. Secrets in a generated description can't be
  /// redacted by name.
  private static func words(of payload: any Sendable) -> String? {
    switch Mirror(reflecting: payload).displayStyle {
    case .collection, .dictionary, .set, .optional, .tuple: nil
    default: (payload as? any CustomStringConvertible)?.description
    }
  }

  /// Returns the decoded error payload, or `nil` if no type is set, the body is empty or decoding fails.
  private func errorPayload(_ body: Data, _ mediaType: MediaType?) -> (any Sendable)? {
    guard let type = plan.errorPayload ?? snapshot.configuration.errorPayload, !body.isEmpty else { return nil }
    func decoded<Payload: Decodable & Sendable>(_ type: Payload.Type) -> (any Sendable)? {
      try? PayloadCoding.decode(
        type, from: body, mediaType: mediaType, with: decoder(for: mediaType), redaction: nil)
    }
    return decoded(type)
  }
}

// MARK: Echo and recording

extension Call {
  func show(
    _ exchange: ExchangeRecord, _ outcome: CallOutcome, _ errorType: String?, _ ended: CallState.Ended,
    _ record: FlightRecord
  ) {
    let (recorders, log) = (snapshot.configuration.recorders, snapshot.configuration.log)
    guard isEchoed || recorder != nil || !recorders.isEmpty else { return }
    let made = Lock<RecordedCall?>(nil)
    let make = { @Sendable [self, ended = ended.head] in
      if let call = made.withLock({ $0 }) { return call }
      let call = exchange.recorded(self, ended, outcome, errorType, record, showing: plan.recordingStyle)
      made.withLock { $0 = call }
      return call
    }
    for recorder in recorders { recorder.record(size: exchange.size, later: make) }
    if isEchoed { log.write(make().echo(inColour: log.isTerminal)) }
    recorder?.record(size: exchange.size, log: log) {
      let recorded = make()
      return Recording(text: "\(recorded)", name: recorded.fileName, entry: RecordingEntry(recorded))
    }
  }

  /// Writes the call's log line, limited to the parts that the task's recording style allows.
  func writeLine(
    _ exchange: ExchangeRecord, _ outcome: CallOutcome, _ errorType: String?, _ ended: CallState.Ended
  ) {
    let style = plan.recordingStyle.intersection(logOptions.recordingStyle)
    let recorded = exchange.recorded(self, ended, outcome, errorType, flightRecord, showing: style)
    snapshot.configuration.log.write(logOptions.text(of: recorded))
  }
}

extension TaskError {
  /// Returns the error for a response with an unaccepted status. `summary` is the server's error message, redacted.
  /// `policy` explains why a redirect was not followed. `showsFields` allows header fields such as `Allow` in the
  /// message.
  package static func badStatus(
    _ response: HTTPResponse, redaction: Redaction, summary: String = "", policy: RedirectPolicy? = nil,
    showsFields: Bool = true
  ) -> TaskError {
    var reason = "\(response.status)"
    if response.status.isRedirect {
      if let target = response.headers[.location] {
        reason += ": the redirect to '\(redaction(address: target).shortened)' was not followed"
        if let refusal = policy?.refusal { reason += ": \(refusal)" }
      } else {
        reason += ": the redirect has no Location"
      }
    }
    if showsFields, let demand = response.demand { reason += ": \(redaction(text: demand).shortened)" }
    if !summary.isEmpty, summary != "\(response.status)" { reason += ": \(summary)" }
    var error = TaskError(.badStatus, reason, phase: .finishing)
    error.status = response.status
    error.headers = redaction(response.headers)
    return error
  }

  package func with(_ response: HTTPResponse, _ body: Data, _ configuration: ServerConfiguration) -> TaskError {
    var error = self
    error.status = response.status
    error.headers = configuration.redaction(response.headers)
    error.body = body.prefix(configuration.maximumErrorBodySize)
    return error
  }
}

extension HTTPResponse {
  package static let currentCopy =
    "the response has no body because the version named in the request's condition is current"

  /// A message about what the server would accept, taken from its header fields. `nil` if they don't say.
  fileprivate var demand: String? {
    switch status.code {
    case 401:
      let ways = headers.challenges.map { way in way["error"].map { "\(way.scheme) (\($0))" } ?? way.scheme }
      if ways.isEmpty { return nil }
      let isRefused = request?.headers.contains(.authorization) == true
      return (isRefused ? "the server rejected the credentials; it accepts " : "the server expects ")
        + ways.joined(separator: " or ")
    case 405: return headers["Allow"].map { "the allowed methods are \($0)" }
    case 416: return headers[.contentRange].map { "Content-Range is \($0)" }
    default: return nil
    }
  }
}

extension Redaction {
  /// Returns the server's error message on one line: a problem's title and detail (RFC 9457), an HTML page's title, or
  /// the first 200 characters of text.
  package func summary(of body: Data, type: MediaType?) -> String {
    guard !hidesBody(of: type) else { return "" }
    // In UTF-16 or UTF-32, the key paths to redact can't be found. A problem that can't be decoded is treated as text.
    if type?.essence == MediaType.problem.rawValue, places.isEmpty || !body.contains(0),
      let problem = try? JSONDecoder().decode(ProblemDetails.self, from: hidingPlaces(in: body))
    {
      let words = [problem.title, problem.detail].compactMap { $0 }.joined(separator: ": ")
      if !words.isEmpty { return line(inFull(text: words), count: 500) }
    }
    let text = PayloadCoding.inUTF8(body, type)
    let title = type?.essence == "text/html" ? Self.title(ofPage: text) : nil
    return excerpt(of: title ?? text, type: type, count: 200)
  }

  private func hidingPlaces(in body: Data) -> Data {
    places.isEmpty ? body : Data(inFull(body: String(decoding: body, as: UTF8.self), .json).utf8)
  }

  /// Returns the contents of the `<title>` element, or `nil` if it is blank or not within the first 4 KiB.
  private static func title(ofPage page: Data) -> Data? {
    let bytes = page.prefix(4 << 10)
    let small = bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    guard let tag = small.firstRange(of: Array("<title>".utf8)),
      let end = small[tag.upperBound...].firstRange(of: Array("</title>".utf8))
    else { return nil }
    let title = bytes.dropFirst(tag.upperBound).prefix(end.lowerBound - tag.upperBound)
    return title.contains { $0 > 0x20 } ? title : nil
  }
}
