import ErrandFoundation

extension Call {
  /// Throws if the settings or limits are invalid, or if the server is disabled.
  func checkSettings() throws {
    if let problem = snapshot.problem ?? plan.problem { throw problem }
    if plan.hasLimits, let problem = plan.timeouts.problem(timeout: plan.timeout, named: "timeout") { throw problem }
    guard snapshot.configuration.disabled else { return }
    throw TaskError(
      .disabled, "the server at '\(snapshot.configuration.remote.name)' is disabled; the request was not sent",
      phase: .preparing)
  }

  /// Builds the request from the task's and the server's current settings and runs both preflights.
  ///
  /// - Parameter isAgain: Whether this is a rebuild, in which case the plan's header fields may be stale.
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
    if let compressed = try compressed(body, headers) {
      body = compressed
      headers[.contentEncoding] = "gzip"
      headers.removeFraming()
    }
    if plan.omitsBody { headers.removeFraming() }
    let options = options(for: method, headers, body)
    var request = HTTPRequest(method, url, headers: headers, body: body, options: options)
    try await plan.task.preflight(&request)
    if let preflight = snapshot.configuration.preflight {
      try await preflight(plan.task, &request)
      if plan.isCrossOrigin { request = withoutSecrets(request, of: HTTPRequest(method, url, headers: headers)) }
    }
    try checkDestination(of: request)
    plan.operation?.apply(to: &request)
    request = strippingEventID(request)
    if rules.authentication != nil { request.options.account = account(of: request)?.name }
    try addCookies(to: &request)
    request = withFileConditions(request)
    #if DEBUG
      TaskSpelling.log(plan, sending: request, to: snapshot.configuration.log)
    #endif
    return request
  }

  /// Returns the request's body. With an `Idempotency-Key`, multipart boundaries are derived from the key, because a
  /// server that has seen the key expects identical bytes.
  private func uploadBody(_ encoder: any BodyEncoder) async throws -> HTTPBody {
    guard let idempotencyKey else { return try await plan.task.uploadBody(encoder: encoder) }
    return try await MultipartForm.$boundaries.withValue(BoundarySequence(idempotencyKey)) {
      try await plan.task.uploadBody(encoder: encoder)
    }
  }

  /// Returns the compressed body, or `nil` if the body is smaller than the threshold or already compressed.
  private func compressed(_ body: HTTPBody, _ headers: HTTPHeaders) throws -> HTTPBody? {
    guard let threshold = plan.gzipUploadThreshold ?? snapshot.configuration.gzipUploadThreshold, !body.isEmpty,
      !headers.contains(.contentEncoding), try body.checkedLength().map({ $0 >= threshold }) ?? (threshold < .max)
    else { return nil }
    return try body.gzipped()
  }

  /// Encodes the task's parameters into the body if the method sends them there and the body is empty, and otherwise
  /// into the query.
  private func place(
    _ parameters: any Encodable & Sendable, in url: inout URL, or body: inout HTTPBody, _ encoder: any BodyEncoder
  ) async throws {
    // Parameters meant for a body may be secret: they must not end up in the URL, which is logged.
    if plan.omitsBody, plan.task.httpMethod.sendsParametersInBody { return }
    if body.isEmpty, !plan.omitsBody, plan.httpMethod.sendsParametersInBody {
      body = try await PayloadCoding.encode(parameters, with: encoder)
    } else if plan.linkedURL == nil {  // a linked page's URL already has its query
      let query = try TaskError.encoding("the parameters", of: type(of: plan.task)) {
        try HTTPQuery(encoding: parameters, (encoder as? FormEncoder)?.style ?? FormStyle())
      }
      if !query.isEmpty { url = try snapshot.adding(query, to: url) }
    }
  }

  /// Returns the header fields: the server's, overridden by the plan's, plus fields for the body and the idempotency
  /// key.
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
    // The plan of a call in a serial queue or with a handle may be old.
    let isStale = isAgain || plan.serialQueue.name != nil || plan.control != nil
    let own = isStale ? try plan.presentHeaders : plan.headers
    headers.replace(with: own)
    // The body's media type overrides the server's, but not one that the task sets.
    if let type = body.mediaType, !type.isStated(by: own) { headers[.contentType] = type.rawValue }
    if plan.idempotency == .key, let idempotencyKey { headers.setDefault(idempotencyKey, for: .idempotencyKey) }
    return headers
  }

  private func options(for method: HTTPMethod, _ headers: HTTPHeaders, _ body: HTTPBody) -> TransferOptions {
    // Most calls share these options, and each change makes a copy.
    let mayRepeat = body.isReplayable && plan.idempotency.allowsRepetition(of: method, headers)
    var options = mayRepeat ? snapshot.repeatableOptions : snapshot.options
    let isOfStreams = !destination.isInMemory || !body.isInMemory || plan.isChunk
    let timeouts = isOfStreams ? streamTimeouts : timeouts
    if timeouts != options.timeouts { options.timeouts = timeouts }
    if !plan.addressPolicy.isInherited { options.addressPolicy = plan.addressPolicy }
    if !plan.context.isEmpty { options.context = plan.context }
    if plan.recordingStyle != .full {
      options.showing = ShownParts(snapshot.configuration.redaction, plan.recordingStyle)
    }
    if !destination.isInMemory { options.isLongLived = true }
    return options
  }

  /// Returns the request without the credentials that a preflight added to its header fields or URL, or to answer
  /// challenges.
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

  /// Sets the time limits for streams if a preflight, step or redirect has replaced the body with a file or a stream.
  func limitStreams(of request: inout HTTPRequest) {
    if !request.body.isInMemory, request.options.timeouts == timeouts { request.options.timeouts = streamTimeouts }
  }

  /// Returns the request, without the server's own header fields if it is sent to a different origin.
  func strippingServerHeaders(_ request: HTTPRequest) -> HTTPRequest {
    snapshot.hasOwnHeaders ? withoutForeignHeaders(request) : request
  }

  /// Returns the request. If a step or a redirect policy created it from scratch, adds the options of the original
  /// request, such as the address policy and the names of the credentials, unless the request has its own.
  func withOptions(_ request: HTTPRequest, of original: HTTPRequest) -> HTTPRequest {
    var request = request
    if request.options.showing == nil {
      let (own, shared) = (request.options, original.options)
      request.options = shared.applying(changesFrom: TransferOptions(), to: own)
      if own.addressPolicy.allowsAll { request.options.addressPolicy = shared.addressPolicy }
      if own.context.isEmpty { request.options.context = shared.context }
    }
    // The Digest credential of the original request, or of the server, stays with its origin.
    if let digest = request.options.digest, Origin(request.url) != Origin(original.url),
      digest == original.options.digest || request.options.hasAuthenticatedDigest
    {
      request.options.digest = nil
    }
    return request
  }

  private func withoutForeignHeaders(_ request: HTTPRequest) -> HTTPRequest {
    guard !snapshot.isTrusted(request.url) else { return request }
    let own = state.withLock { $0.serverHeaders }
    var request = request
    request.headers = HTTPHeaders(
      request.headers.filter { field in
        // A field set by the task or a step may be sent to any origin.
        ServerSnapshot.publicHeaders.contains(field.name) || !own.fields.contains(field)
          || plan.headers.contains(field.name)
      })
    return request
  }

  private func checkDestination(of request: HTTPRequest) throws {
    guard case .file = destination, request.method == .head else { return }
    throw TaskError(
      .badRequest, "the response to a HEAD request has no body to write to a file: use head()", phase: .preparing,
      wasNotSent: true)
  }

  /// Returns the request's origin. Throws if the request can't be sent or must not be sent.
  func sendableOrigin(of request: HTTPRequest) throws -> Origin {
    try request.check()
    try checkDestination(of: request)
    if !request.options.addressPolicy.allowsAll, !transport.checksAddresses { throw TaskError.cannotCheckAddresses }
    let origin = try snapshot.origin(of: request.url) ?? request.origin()
    guard origin.isSecure || origin.isLoopback || snapshot.configuration.insecureHosts.contains(origin.host) else {
      throw TaskError(
        .insecureScheme,
        "plain http to \(origin.host) is not allowed: use https, or add the host to the server's insecureHosts",
        phase: .preparing, wasNotSent: true)
    }
    return origin
  }
}

extension MediaType {
  /// Whether the task's `Content-Type` can be used for a body of this type. A multipart type must include the boundary.
  fileprivate func isStated(by headers: HTTPHeaders) -> Bool {
    guard let stated = headers[.contentType].map({ MediaType($0) }) else { return false }
    return !essence.hasPrefix("multipart/") || stated.parameter("boundary") != nil
      || !stated.essence.hasPrefix("multipart/")
  }
}

extension HTTPRequest {
  func isRepeatable(_ idempotency: Idempotency) -> Bool { idempotency.allowsRepetition(of: method, headers) }

  /// Returns this request with the changes that steps made between `before` and `after`. Each part and header field is
  /// compared separately. Everything else is unchanged.
  func applying(changesFrom before: HTTPRequest, to after: HTTPRequest) -> HTTPRequest {
    var request = self
    if before.method != after.method { request.method = after.method }
    if before.url != after.url { request.url = after.url }
    if !before.body.isSame(as: after.body) { request.body = after.body }
    request.options = options.applying(changesFrom: before.options, to: after.options)
    guard before.headers != after.headers else { return request }
    request.headers = headers.applying(changesFrom: before.headers, to: after.headers)
    // `Content-Length` describes the previous body.
    if before.body.isSame(as: after.body) { request.headers.remove(.contentLength) }
    return request
  }
}
