import ErrandFoundation

/// How a response's body is read before the slot is released.
enum Intake {
  case data
  /// Reads the body into memory, up to the size limit for error bodies. Errors while reading are ignored.
  case excerpt
  case discard
  /// Writes the body to a temporary file that later replaces the destination.
  case file(FilePlace)
  /// The body is not read here, because the caller reads it.
  case head
}

extension Call {
  /// Whether the app has per-attempt steps, which can read and change responses.
  var hasAttemptSteps: Bool { !snapshot.configuration.perAttemptSteps.isEmpty }

  /// Whether the app has steps of any kind.
  var hasSteps: Bool { hasAttemptSteps || !snapshot.configuration.perCallSteps.isEmpty }

  /// Reads a response's body, unless the caller will read it. Returns whether it was read. If reading fails, the error
  /// is stored in the body and thrown to its reader.
  func takeIn(
    _ response: inout HTTPResponse, method: HTTPMethod, _ progress: ProgressCounter?, _ permit: StreamPermit?
  ) async -> Bool {
    if let gate = plan.control?.gate {
      response.body = HTTPResponseBody(PausableBody(body: response.body, gate: gate))
    }
    let (intake, body) = (Outcome(self, response).intake, response.body)
    if isFollowed(response) {
      response.body = Excerpt.body(await beginning(of: response, to: method), of: body)
      return true
    }
    if case .excerpt = intake {
      response.body = Excerpt.body(await excerpt(of: body), of: body)
      return true
    }
    if let progress, method != .head { progress.count(&response) }
    do {
      switch intake {
      case .file(let place):
        try verify(response)
        response.body = try await write(response, to: place)
      case .head, .excerpt:
        response.body.onEnd { [permit] _, _ in withExtendedLifetime(permit) {} }
        closeAtEnd(response.body)
        return false
      case .data:
        _ = try await gather(response.body)
      case .discard:
        response.body = try await drain(response.body).body
      }
    } catch {
      response.body.fail(error)
    }
    return true
  }

  /// Whether a response is a redirect that will be followed, so its body is read only to reuse the connection. `false`
  /// if a closure of the app decides, which runs after the slot is released.
  private func isFollowed(_ response: HTTPResponse) -> Bool {
    guard response.status.isRedirect, response.headers.contains(.location) else { return false }
    switch redirectPolicy.kind {
    case .follow: return true
    case .sameOrigin:
      let target = try? LinkedURL.target(in: response.headers, from: response.url)
      return target.flatMap { Origin($0) } == Origin(response.url)
    case .inherited, .refuse, .decide: return false
    }
  }

  /// The size and time limits for reading a redirect's body, so that its connection can be reused (RFC 9112 §9.3). Most
  /// such bodies arrive with the head. If a body is larger or slower, a new connection is cheaper.
  private static let beginning = (bytes: 16 << 10, time: Duration.seconds(1))

  /// Reads the start of the body of a response that will be followed by another request, such as a redirect. Discards
  /// the rest.
  func beginning(of response: HTTPResponse, to method: HTTPMethod?) async -> Data {
    let body = response.body
    // RFC 9110 §9.3.2: `Content-Length` in the response to a HEAD request describes a body that is not sent.
    let announced = method == .head ? 0 : response.headers.number(.contentLength) ?? 0
    guard !body.isInMemory, announced <= Self.beginning.bytes else {
      body.cancel()
      return Data()
    }
    return await beginning(of: body, upTo: Self.beginning.bytes, within: Self.beginning.time)
  }
}
