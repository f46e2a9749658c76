import ErrandFoundation

extension Call {
  /// Adds the cookies that the call states, or those of its jar. Hooks and steps see them, and a cache selects by them.
  func addCookies(to request: inout HTTPRequest) throws {
    if let line = try plan.cookiePolicy.statedLine() {
      request.headers.setDefault(line, for: .cookie)
    } else if plan.cookiePolicy.isInherited, let line = try snapshot.configuration.cookiePolicy.statedLine() {
      addServersCookies(line, to: &request)
    }
    if let cookieJar, !cookieJar.isEmpty { request.renewCookies(cookieJar) }
  }

  /// Adds the cookies that the server states, which stay with its remote's origin as its other fields do.
  private func addServersCookies(_ line: String, to request: inout HTTPRequest) {
    guard snapshot.isHome(request.url), !request.headers.contains(.cookie) else { return }
    request.headers[.cookie] = line
    state.withLock { $0.note(serverHeaders: [.cookie: line]) }
  }

  /// Gives the request of a hop the cookies that the jar has for its URL now.
  func renewCookies(of request: inout HTTPRequest, _ attempt: Int) {
    // Most servers set none: this is all that it costs their calls.
    guard let cookieJar, !cookieJar.isEmpty || request.options.jarCookies != nil else { return }
    request.renewCookies(cookieJar)
    noteAmended(request, of: attempt)
  }

  /// Keeps the cookies that a response sets.
  func keepCookies(of response: HTTPResponse, to request: HTTPRequest) {
    guard let cookieJar, response.headers.contains(.setCookie) else { return }
    cookieJar.receive(response.headers.values(for: .setCookie), from: request.url)
  }
}

extension HTTPRequest {
  /// Sets the cookies of a jar, or those that it has now in the place of earlier ones. Those of a task or a step stay.
  fileprivate mutating func renewCookies(_ jar: CookieJar) {
    let present = headers[.cookie]
    if present != nil, present != options.jarCookies { return }
    let line = jar.line(for: url, method, from: options.firstURL)
    guard line != present else { return }
    headers[.cookie] = line
    options.jarCookies = line
  }
}

extension CookiePolicy {
  /// The jar of a call of `plan`; nil where it has none.
  static func jar(of plan: TaskPlan, _ snapshot: ServerSnapshot) -> CookieJar? {
    let policy = plan.cookiePolicy.isInherited ? snapshot.configuration.cookiePolicy : plan.cookiePolicy
    return policy.jar(own: plan.server.ownCookies)
  }
}
