import Foundation

extension Call {
  /// 10. Checks the status, makes the result, and calls the hooks.
  func conclude<Value: Sendable>(
    _ response: HTTPResponse, finish: @Sendable (Outcome) async throws -> Value
  ) async throws -> Value {
    var response = response
    response.maker = self
    return try await conclude(made: response, finish: finish)
  }

  private func conclude<Value: Sendable>(
    made response: HTTPResponse, finish: @Sendable (Outcome) async throws -> Value
  ) async throws -> Value {
    note(final: response)
    if !accepts(response.status) { throw await refusal(of: response) }
    try refuseStandIn(response)
    let isStored = isStored(response)
    if isStored { response.body.refill(Data()) } else { try verify(response) }
    if case .stream = delivery {
      do {
        try await plan.task.postProcess(response: response)
        return try await finish(Outcome(call: self, response: response, data: Data()))
      } catch {
        response.body.cancel()  // the attempt ends before its call does
        throw error
      }
    }
    // An answer that came from a step is not in the file yet.
    if case .file(let file) = delivery, !isStored, isSuccess(response.status) {
      response.body.refill(try await write(response.body, to: file).data)
    }
    let data: Data
    if let inMemory = response.body.inMemory { data = inMemory } else { data = try await response.body.collect() }
    try await plan.task.postProcess(response: response)
    let value = try await finish(Outcome(call: self, response: response, data: data))
    try await plan.task.postflight(response: response)
    if let postflight = snapshot.configuration.postflight { try await postflight(plan.task, response) }
    return value
  }

  /// Verifies the head of an accepted response by the hooks of the task and the server; for a file, before anything is
  /// written.
  func verify(_ response: HTTPResponse) throws {
    do {
      try plan.task.verify(response)
      try snapshot.configuration.verify?(plan.task, response)
    } catch {
      response.body.cancel()
      throw error
    }
  }

  /// True when a response with this status is returned rather than thrown as an error.
  func accepts(_ status: HTTPStatus) -> Bool {
    isSuccess(status) || (plan.acceptedStatuses.isInherited && !snapshot.configuration.reportBadHTTPStatusAsError)
  }

  /// True for a status that the call wants: others are retried, and replace no file.
  func isSuccess(_ status: HTTPStatus) -> Bool { plan.acceptedStatuses.contains(status) }

  /// True when the body is the thing itself: not a 304, which says that another copy is, nor a part that was not
  /// requested (RFC 9110 §15.3.7: a 206 answers a request with Range).
  func isWhole(_ response: HTTPResponse) -> Bool {
    switch response.status {
    case .notModified: false
    case .partialContent: !state.withLock { $0.hasUnaskedPart }
    default: true
    }
  }

  /// Throws where a call that asks for a body got something in its place.
  private func refuseStandIn(_ response: HTTPResponse) throws {
    guard delivery.wantsBody, !isWhole(response) else { return }
    response.body.cancel()
    var error =
      response.status == .notModified
      ? TaskError(
        .notModified, "\(response.status): there is no body, for the copy that the request names is still good",
        phase: .finishing)
      : TaskError(
        .badStatus, "\(response.status): a part was sent, though the request has no Range", phase: .finishing)
    error.status = response.status
    error.headers = snapshot.configuration.redaction(response.headers)
    throw error
  }

  /// Hides secrets in what an error's line shows of a body; nil where the task has its bodies shown nowhere.
  var shownRedaction: Redaction? {
    plan.recordingStyle.contains(.download) ? snapshot.configuration.redaction : nil
  }

  /// The error for a response whose status is not accepted, with as much of its body as errors keep.
  private func refusal(of response: HTTPResponse) async -> TaskError {
    let configuration = snapshot.configuration
    let body = await excerpt(of: response.body, upTo: configuration.maximumErrorBodySize).data
    let summary = shownRedaction?.summary(of: body, type: response.mediaType) ?? ""
    return TaskError.badStatus(response, redaction: configuration.redaction, summary: summary)
      .with(response, body, configuration)
  }
}

extension TaskError {
  /// A response whose status is not accepted.
  ///
  /// - Parameters:
  ///   - response: The response.
  ///   - redaction: Hides secrets in its header.
  ///   - summary: The server's own words, secrets hidden.
  static func badStatus(_ response: HTTPResponse, redaction: Redaction, summary: String = "") -> TaskError {
    let reason = summary.isEmpty ? "\(response.status)" : "\(response.status): \(summary)"
    var error = TaskError(.badStatus, reason, phase: .finishing)
    error.status = response.status
    error.headers = redaction(response.headers)
    return error
  }

  /// The error with the response that it is about, and the beginning of its body.
  func with(_ response: HTTPResponse, _ body: Data, _ configuration: ServerConfiguration) -> TaskError {
    var error = self
    error.status = response.status
    error.headers = configuration.redaction(response.headers)
    error.body = body.prefix(configuration.maximumErrorBodySize)
    return error
  }
}

extension Redaction {
  /// The words of a server for its refusal, on one line: title and detail of a problem (RFC 9457), or the first 200
  /// characters of a text.
  func summary(of body: Data, type: MediaType?) -> String {
    if type?.essence == MediaType.problem.rawValue,
      let problem = try? JSONDecoder().decode(ProblemDetails.self, from: body)  // a malformed problem is a text
    {
      let words = [problem.title, problem.detail].compactMap { $0 }.joined(separator: ": ")
      if !words.isEmpty { return excerpt(of: Data(words.utf8), type: .plainText, count: 500) }
    }
    return excerpt(of: body, type: type, count: 200)
  }
}
