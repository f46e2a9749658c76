import Errand
import ErrandFoundation

extension MockAnswer {
  /// Returns the response for a ``StubTransport``, which has no connection.
  func response(to request: HTTPRequest, _ clock: CallClock) async throws -> HTTPResponse {
    // Like a server, read the body first. A body that can't be read fails the request.
    try await request.body.forEachChunk { _ in }
    if headDelay > .zero { try await request.wait(headDelay, clock) }
    switch conduct {
    case .respond(.whole(let data)): return response(data, to: request)
    case .respond(.chunked(let chunks)): return response(chunks.reduce(Data(), +), to: request)
    case .drop, .reset:
      throw TaskError(.connectionLost, "the stub closed the connection", phase: .awaitingResponse)
    case .hang:
      try await request.wait(.seconds(86_400), clock)
      throw TaskError(.connectionLost, "the stub didn't answer for a day", phase: .awaitingResponse)
    case .respond(.endless), .respond(.truncated), .raw:
      throw TaskError(.badRequest, "this answer needs a connection: use MockServer", phase: .preparing)
    }
  }

  private func response(_ body: Data, to request: HTTPRequest) -> HTTPResponse {
    let body = hasBody(inResponseTo: request.method) ? body : Data()
    return HTTPResponse(status, url: request.url, headers: headers, body: HTTPResponseBody(body))
  }
}

extension HTTPRequest {
  /// Waits before the response. Throws `TaskError` with code `.timedOut` if a timeout of the request is shorter.
  func wait(_ duration: Duration, _ clock: CallClock) async throws {
    let timeouts = options.timeouts.bounded
    let limits: [(Timeouts.Timer, Duration?)] = [(.firstByte, timeouts.firstByte), (.attempt, timeouts.attempt)]
    let expiring = limits.compactMap { timer, limit in limit.map { (timer, $0) } }.min { $0.1 < $1.1 }
    guard let (timer, limit) = expiring, limit < duration else { return try await clock.sleep(for: duration) }
    try await clock.sleep(for: limit)
    throw TaskError.timeout(timer, after: limit, phase: .awaitingResponse)
  }
}
