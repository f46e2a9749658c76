import ErrandFoundation

extension Call {
  /// Refuses a call whose settings or limits are wrong, or whose server is disabled.
  func checkSettings() throws {
    if let problem = snapshot.problem ?? plan.problem { throw problem }
    if plan.hasLimits, let problem = plan.timeouts.problem(timeout: plan.timeout, named: "timeout") { throw problem }
    guard snapshot.configuration.disabled else { return }
    throw TaskError(
      .disabled, "the server at '\(snapshot.configuration.remote.name)' is disabled, so nothing is sent",
      phase: .preparing)
  }

  /// The request as the task and the server describe it now, after both preflights.
  ///
  /// - Parameter isAgain: Whether it was built before, so that the header fields of the plan may be stale.
  func build(again isAgain: Bool = false) async throws -> HTTPRequest {
    var url = try await snapshot.url(of: plan)
    let encoder = plan.encoder.isInherited ? snapshot.configuration.defaultEncoder : plan.encoder
    var body = HTTPBody.empty
    if !plan.omitsBody {
      body = try await uploadBody(encoder)
    }
    if let parameters = plan.task.plannedParameters { try await place(parameters, in: &url, or: &body, encoder) }
    var method = plan.httpMethod
    if method == .automatic { method = body.isEmpty ? .get : .post }
    var headers = try await headers(at: url, body, again: isAgain)
    if let packed = try packed(body, headers) {
      body = packed
      headers[.contentEncoding] = "gzip"
      headers.removeFraming()
    }
    if plan.omitsBody { headers.removeFraming() }
    let options = options(for: method, headers, body)
    var request = HTTPRequest(method, url, headers: headers, body: body, options: options)
    try await plan.task.preflight(&request)
    if let preflight = snapshot.configuration.preflight {
      try await preflight(plan.task, &request)
      if plan.isAway { request = withoutSecrets(request, of: HTTPRequest(method, url, headers: headers)) }
    }
    if rules.authentication != nil { request.options.account = account(for: request.url) }
    try addCookies(to: &request)
    if plan.keepsCurrentFile { addFileConditions(to: &request) }
    #if DEBUG
      TaskSpelling.tell(plan, sending: request, log: snapshot.configuration.log)
    #endif
    return request
  }

  /// The body of a call with an `Idempotency-Key`: a server that knows the key expects the same bytes with it, the boundary
  /// of a form that is made anew included.
  private func uploadBody(_ encoder: any BodyEncoder) async throws -> HTTPBody {
    guard let idempotencyKey else { return try await plan.task.uploadBody(encoder: encoder) }
    return try await MultipartForm.$boundaries.withValue(BoundarySequence(idempotencyKey)) {
      try await plan.task.uploadBody(encoder: encoder)
    }
  }

  /// The body packed, where it is as large as the task or the server says, and not packed already.
  private func packed(_ body: HTTPBody, _ headers: HTTPHeaders) throws -> HTTPBody? {
    guard let threshold = plan.gzipUploadThreshold ?? snapshot.configuration.gzipUploadThreshold, !body.isEmpty,
      !headers.contains(.contentEncoding), try body.checkedLength().map({ $0 >= threshold }) ?? (threshold < .max)
    else { return nil }
    return try body.gzipped()
  }

  /// Writes the parameters of the task: into the body where its method sends one and it has no other, else into the query.
  private func place(
    _ parameters: any Encodable & Sendable, in url: inout URL, or body: inout HTTPBody, _ encoder: any BodyEncoder
  ) async throws {
    // Parameters meant for a body may be secret: they must not move into the URL, which is logged.
    if plan.omitsBody, plan.task.httpMethod.sendsParametersInBody { return }
    if body.isEmpty, !plan.omitsBody, plan.httpMethod.sendsParametersInBody {
      body = try await PayloadCoding.encode(parameters, with: encoder)
    } else if plan.linkedURL == nil {  // that of a page has its query
      let query = try TaskError.encoding("the parameters", of: type(of: plan.task)) {
        try HTTPQuery(encoding: parameters, (encoder as? FormEncoder)?.style ?? FormStyle())
      }
      if !query.isEmpty { url = try snapshot.adding(query, to: url) }
    }
  }

  /// The fields of the server, under those of the plan, under those that follow from the body and the idempotency.
  private func headers(at url: URL, _ body: HTTPBody, again isAgain: Bool) async throws -> HTTPHeaders {
    var headers = snapshot.headers
    if snapshot.hasOwnHeaders {
      headers = try await snapshot.headers(for: plan.task, at: url)
      state.withLock { [headers] in $0.note(serverHeaders: headers) }
    }
    if let provider = snapshot.configuration.userAgentProvider {
      let agent = await provider()
      headers[.userAgent] = agent.isEmpty ? nil : agent
    }
    // A call that waited for its turn, or is held from outside, may have been planned long ago.
    let isStale = isAgain || plan.serialQueue.name != nil || plan.control != nil
    let own = isStale ? try plan.presentHeaders : plan.headers
    headers.replace(with: own)
    // The body knows better than the server what it is, and the task better than both.
    if let type = body.mediaType, !type.isStated(by: own) { headers[.contentType] = type.rawValue }
    if plan.idempotency == .key, let idempotencyKey { headers.setDefault(idempotencyKey, for: .idempotencyKey) }
    return headers
  }

  private func options(for method: HTTPMethod, _ headers: HTTPHeaders, _ body: HTTPBody) -> TransferOptions {
    // Most calls share these: each change is a copy.
    let mayRepeat = body.isReplayable && plan.idempotency.allowsRepetition(of: method, headers)
    var options = mayRepeat ? snapshot.repeatableOptions : snapshot.options
    // Where a body goes to or comes from a file or a stream.
    let isOfStreams = !delivery.isInMemory || !body.isInMemory || plan.isChunk
    let timeouts = isOfStreams ? streamTimeouts : timeouts
    if timeouts != options.timeouts { options.timeouts = timeouts }
    if !plan.addressPolicy.isInherited { options.addressPolicy = plan.addressPolicy }
    if !plan.context.isEmpty { options.context = plan.context }
    if plan.recordingStyle != .full {
      options.showing = ShownParts(snapshot.configuration.redaction, plan.recordingStyle)
    }
    if !delivery.isInMemory { options.isLongLived = true }
    return options
  }

  /// A request without the credentials that a preflight has added to the one before it: among the fields, in the URL, for a challenge.
  private func withoutSecrets(_ request: HTTPRequest, of before: HTTPRequest) -> HTTPRequest {
    let redaction = snapshot.configuration.redaction
    var request = request
    request.url = before.url
    request.options.digest = nil
    request.headers = HTTPHeaders(
      request.headers.filter { [named = request.options.credentialHeaders] field in
        before.headers.fields.contains(field) || !redaction.keepsHome(field, named: named)
      })
    return request
  }

  /// Gives a request the limits of streams, where a preflight, a step or a redirect has put a file or a stream in the place of its body.
  func limitStreams(of request: inout HTTPRequest) {
    if !request.body.isInMemory, request.options.timeouts == timeouts { request.options.timeouts = streamTimeouts }
  }

  /// The request as it may go out: without the server's own header fields where a step or a preflight has sent it to
  /// another origin.
  func keepingHeadersHome(_ request: HTTPRequest) -> HTTPRequest {
    snapshot.hasOwnHeaders ? withoutForeignHeaders(request) : request
  }

  /// A request that a step has made of nothing, with what may be shown of it.
  func showing(_ request: HTTPRequest) -> HTTPRequest {
    guard request.options.showing == nil else { return request }
    var request = request
    request.options.showing = ShownParts(snapshot.configuration.redaction, plan.recordingStyle)
    return request
  }

  private func withoutForeignHeaders(_ request: HTTPRequest) -> HTTPRequest {
    guard !snapshot.isHome(request.url) else { return request }
    let own = state.withLock { $0.serverHeaders }
    var request = request
    request.headers = HTTPHeaders(
      request.headers.filter { field in
        // A field that the task or a step sets goes wherever the call goes.
        ServerSnapshot.publicHeaders.contains(field.name) || !own.fields.contains(field)
          || plan.headers.contains(field.name)
      })
    return request
  }

  /// Refuses a request that must not, or cannot, be sent; returns its origin.
  func sendableOrigin(of request: HTTPRequest) throws -> Origin {
    try request.check()
    if case .file = delivery, request.method == .head {
      throw TaskError(
        .badRequest, "the answer to a HEAD request has no body to write to a file: use head()", phase: .preparing,
        isSurelyNotSent: true)
    }
    if !request.options.addressPolicy.allowsAll, !transport.checksAddresses { throw TaskError.cannotCheckAddresses }
    let origin = try snapshot.origin(of: request.url) ?? request.origin()
    guard origin.isSecure || origin.isLoopback || snapshot.configuration.insecureHosts.contains(origin.host) else {
      throw TaskError(
        .insecureScheme,
        "plain http to \(origin.host) is refused: use https, or list the host in the server's insecureHosts",
        phase: .preparing, isSurelyNotSent: true)
    }
    return origin
  }
}

extension MediaType {
  /// True where fields state a type that a body of this one can be read by: one of parts needs its boundary.
  fileprivate func isStated(by headers: HTTPHeaders) -> Bool {
    guard let stated = headers[.contentType].map({ MediaType($0) }) else { return false }
    return !essence.hasPrefix("multipart/") || stated.parameter("boundary") != nil
      || !stated.essence.hasPrefix("multipart/")
  }
}

extension HTTPRequest {
  /// True when the request may reach the server twice.
  func isRepeatable(_ idempotency: Idempotency) -> Bool { idempotency.allowsRepetition(of: method, headers) }

  /// This request with all that steps changed in `before` to make it `after`: part by part, and line by line of the
  /// header. What they left alone is as it is here.
  func applying(changesFrom before: HTTPRequest, to after: HTTPRequest) -> HTTPRequest {
    var request = self
    if before.method != after.method { request.method = after.method }
    if before.url != after.url { request.url = after.url }
    if !before.body.isSame(as: after.body) { request.body = after.body }
    request.options = options.applying(changesFrom: before.options, to: after.options)
    guard before.headers != after.headers else { return request }
    request.headers = headers.applying(changesFrom: before.headers, to: after.headers)
    // A stated length was that of the body before.
    if before.body.isSame(as: after.body) { request.headers.remove(.contentLength) }
    return request
  }
}
