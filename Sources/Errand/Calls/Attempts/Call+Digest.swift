extension Call {
  /// Resends a request with a Digest credential after a challenge, within the attempt's time limit.
  func answeringDigest(
    _ request: HTTPRequest, of attempt: Attempt, _ send: (HTTPRequest, DigestExchange?) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    guard request.options.answersDigest, let digest = DigestExchange(request, plan.server.digests) else {
      return try await send(request, nil)
    }
    let start = attempt.spent
    var response = try await send(request, digest)
    while true {
      switch digest.verdict {
      case .stands: return response
      case .refused(let reason):
        noteRefusal(reason)
        return response
      case .again: break
      }
      if let obstacle = obstacle(toAnswering: request) {
        noteRefusal(obstacle)
        return response
      }
      await leave(response, to: request.method, attempt)
      try checkCancellation()
      response = try await further(request, of: attempt, since: start, atOtherHosts: false) {
        try await send($0, digest)
      }
    }
  }
}
