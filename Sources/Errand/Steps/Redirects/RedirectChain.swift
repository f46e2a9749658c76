import ErrandFoundation

/// Tracks the redirects of one attempt and decides whether to follow the next one. Does no I/O.
struct RedirectChain {
  private struct Key: Hashable {
    let method: HTTPMethod
    let address: Substring
    let headers: HTTPHeaders

    init(_ request: HTTPRequest) {
      method = request.method
      address = request.url.absoluteString.prefix { $0 != "#" }
      headers = request.headers
    }
  }

  private let policy: RedirectPolicy
  private let redaction: Redaction
  private(set) var request: HTTPRequest
  private(set) var redirects: [Redirect] = []
  private var seen: Set<Key>

  init(_ request: HTTPRequest, _ policy: RedirectPolicy, _ redaction: Redaction) {
    self.request = request
    self.policy = policy
    self.redaction = redaction
    seen = [Key(request)]
  }

  /// Returns the request that follows a redirect, or `nil` if the response is returned to the caller.
  /// Throws ``TaskError`` if the target is invalid or if there are too many redirects.
  func proposal(_ response: HTTPResponse, mayKeep: (HTTPHeaders.Field, URL) -> Bool) throws -> HTTPRequest? {
    guard response.status.isRedirect, policy.kind != .refuse, let target = try target(of: response) else { return nil }
    if policy.kind == .sameOrigin, Origin(target) != Origin(request.url) { return nil }
    guard redirects.count < policy.maximum else {
      throw failure(
        .tooManyRedirects,
        "\(response.status) to '\(shown(target))' is not followed after \(redirects.count) redirects, the maximum allowed by redirectPolicy",
        response)
    }
    return request.redirected(to: target, response.status, isSecret: isSecret) { mayKeep($0, target) }
  }

  private func target(of response: HTTPResponse) throws -> URL? {
    do {
      return try LinkedURL.target(in: response.headers, from: request.url)
    } catch {
      throw failure(.badRedirect, "\(response.status) is not followed: \(error.reason)", response)
    }
  }

  /// Checks a request that the policy changed. Removes the remaining secrets if the request and the proposal have
  /// different origins.
  func allowed(_ next: HTTPRequest, for proposal: HTTPRequest) -> HTTPRequest {
    var next = next
    if !next.body.isSame(as: proposal.body), next.headers[.contentLength] == proposal.headers[.contentLength] {
      next.headers.removeFraming()
    }
    guard Origin(next.url) != Origin(proposal.url) else { return next }
    next.headers = HTTPHeaders(
      next.headers.filter { field in
        !(isSecret(field) || HTTPRequest.ofOrigin.contains(field.name)) || !proposal.headers.fields.contains(field)
      })
    if next.options.digest == proposal.options.digest { next.options.digest = nil }
    return next
  }

  /// Records that a redirect is followed with `next`. Throws ``TaskError`` if that request must not be sent.
  mutating func follow(_ response: HTTPResponse, with next: HTTPRequest) throws {
    var next = next
    next.url = try checked(next, after: response).url
    // A new cookie can change the response to the same request.
    if response.headers.contains(.setCookie) { seen = [] }
    guard seen.insert(Key(next)).inserted else {
      throw failure(
        .tooManyRedirects,
        "\(response.status) to '\(shown(next.url))' is not followed: that URL was already requested (redirect loop)",
        response)
    }
    redirects.append(Redirect(request.method, request.url, response.status, headers: response.headers))
    request = next
  }

  private func checked(_ next: HTTPRequest, after response: HTTPResponse) throws -> LinkedURL {
    let refused = "\(response.status) to '\(shown(next.url))' is not followed"
    let target: LinkedURL
    do {
      target = try LinkedURL(next.url, from: [request.url])
    } catch {
      throw failure(.badRedirect, "\(refused): \(error.reason)", response)
    }
    guard next.body.isReplayable else {
      throw failure(
        .bodyNotReplayable,
        "\(refused): the request body must be sent again, but can only be read once: use HTTPBody.stream with a closure",
        response)
    }
    return target
  }

  /// Whether a field must not be sent to another origin, even if the redaction shows it.
  private func isSecret(_ field: HTTPHeaders.Field) -> Bool {
    redaction.keepsHome(field, named: request.options.credentialHeaders)
  }

  private func shown(_ url: URL) -> String { redaction(url).shortened }

  private func failure(_ code: TaskError.Code, _ reason: String, _ response: HTTPResponse) -> TaskError {
    var error = TaskError(code, reason, phase: .finishing)
    error.status = response.status
    error.headers = redaction(response.headers)
    return error
  }
}
