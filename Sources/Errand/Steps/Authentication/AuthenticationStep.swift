import ErrandFoundation

/// Signs the requests of an attempt in, and once more with a new token where the server refuses the first.
struct AuthenticationStep: PerAttemptStep {
  /// The source for a URL: that of the request as the steps before have left it; nil where there is none.
  let source: @Sendable (URL) -> (any CredentialSource)?
  /// The attempt, before it is known what its source knows.
  let attempt: SigningAttempt
  /// The reason not to send a request twice; nil where it may be.
  let obstacle: @Sendable (_ request: HTTPRequest, _ response: HTTPResponse) -> String?
  /// Spends what a replay costs, once for a version; the reason against it where there is no more.
  let spend: @Sendable (_ source: any CredentialSource, _ version: Int, _ request: HTTPRequest) -> String?
  /// Notes why a refused request is not sent again.
  let refuse: @Sendable (_ reason: String) -> Void

  /// The most of a refused response's body that is kept while a token is waited for, in bytes.
  static let keptSize = 64 << 10
  /// The time for reading it.
  static let patience = Duration.seconds(5)

  func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
    guard let source = source(request.url) else { return try await next(request) }
    var attempt = attempt
    attempt.known = source.failureCount
    guard let signed = try await sign(request, refused: nil, source, attempt) else { return try await next(request) }
    var response = try await next(signed.request)
    guard signed.version > 0, answers(response, request, source) else { return response }
    guard source.isAuthenticationFailure(response) else {
      source.accepted(signed.version)
      return response
    }
    source.refused(signed.version)
    guard source.isRefreshable else { return response }
    if let obstacle = obstacle(request, response) {
      refuse(obstacle)
      return response
    }
    // The connection is released before the wait for a token. Only a stream still has one.
    if !response.body.isInMemory {
      response.body = HTTPResponseBody(await beginning(of: response.body), trailers: response.body.trailers)
    }
    guard let again = try await sign(request, refused: signed.version, source, attempt) else { return response }
    if let obstacle = spend(source, again.version, again.request) {
      refuse(obstacle)
      return response
    }
    let second = try await next(again.request)
    guard again.version > 0, answers(second, again.request, source) else { return second }
    if source.isAuthenticationFailure(second) { source.refused(again.version) } else { source.accepted(again.version) }
    return second
  }

  private func sign(
    _ request: HTTPRequest, refused: Int?, _ source: any CredentialSource, _ attempt: SigningAttempt
  ) async throws -> SignedRequest? {
    do {
      return try await source.sign(request, refused: refused, for: attempt)
    } catch var error as TaskError {
      error.isTokenFailure = true
      throw error
    }
  }

  /// The beginning of a body, where it comes in time. It is read to its end where that is near: the connection is used again
  /// then.
  private func beginning(of body: HTTPResponseBody) async -> Data {
    defer { body.cancel() }  // what is left is not wanted
    return (try? await attempt.context.clock.within(Self.patience) { await Self.read(body) }) ?? Data()
  }

  /// The beginning of a body, up to what is kept; one that breaks off is as long as it came.
  private static func read(_ body: HTTPResponseBody) async -> Data {
    var data = Data()
    while data.count < keptSize, let chunk = try? await body.next() { data.append(chunk.prefix(keptSize - data.count)) }
    return data
  }

  /// True when a response says something of the token of a request: no redirect has led out of the token's place on the way, even
  /// to come back.
  private func answers(_ response: HTTPResponse, _ request: HTTPRequest, _ source: any CredentialSource) -> Bool {
    let origin = Origin(request.url)
    return (response.redirects.map(\.url) + [response.url]).allSatisfy { url in
      Origin(url) == origin && self.source(url) === source
    }
  }
}
