import ErrandFoundation

extension Call {
  /// Adds the cookies set by the task or the server, and the jar's cookies. Hooks and steps see them, and the cache key
  /// can include them.
  func addCookies(to request: inout HTTPRequest) throws {
    if let line = try plan.cookiePolicy.statedLine() {
      request.headers.setDefault(line, for: .cookie)
    } else if plan.cookiePolicy.isInherited, let line = try snapshot.configuration.cookiePolicy.statedLine() {
      addServersCookies(line, to: &request)
    }
    if let cookieJar, !cookieJar.isEmpty { request.renewCookies(cookieJar) }
  }

  /// Adds the cookies from the server's policy. Like the server's other header fields, they are sent only to the
  /// remote's origin.
  private func addServersCookies(_ line: String, to request: inout HTTPRequest) {
    guard snapshot.isTrusted(request.url), !request.headers.contains(.cookie) else { return }
    request.headers[.cookie] = line
    state.withLock { $0.note(serverHeaders: [.cookie: line]) }
  }

  /// Replaces the jar's cookies in the request with the current ones for its URL.
  func renewCookies(of request: inout HTTPRequest, _ attempt: Int) {
    // Most servers set no cookies: keep this check cheap.
    guard let cookieJar, !cookieJar.isEmpty || request.options.jarCookies != nil else { return }
    request.renewCookies(cookieJar)
    record { [request] in $0.amend(request, of: attempt) }
  }

  func keepCookies(of response: HTTPResponse, to request: HTTPRequest) {
    guard let cookieJar, response.headers.contains(.setCookie) else { return }
    cookieJar.receive(response.headers.values(for: .setCookie), from: request.url)
  }
}

extension HTTPRequest {
  /// Sets the jar's cookies, replacing earlier ones from the jar. Keeps a `Cookie` field set by a task or a step.
  fileprivate mutating func renewCookies(_ jar: CookieJar) {
    let present = headers[.cookie]
    if present != nil, present != options.jarCookies { return }
    let line = jar.line(for: url, method, from: options.redirects.first?.url)
    guard line != present else { return }
    headers[.cookie] = line
    options.jarCookies = line
  }
}

extension CookiePolicy {
  static func jar(of plan: TaskPlan, _ snapshot: ServerSnapshot) -> CookieJar? {
    let policy = plan.cookiePolicy.isInherited ? snapshot.configuration.cookiePolicy : plan.cookiePolicy
    return policy.jar(own: plan.server.ownCookies)
  }
}
