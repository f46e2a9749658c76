package import ErrandFoundation

/// A server's configuration when a call began, with values that are computed once for all calls.
package final class ServerSnapshot: Sendable {
  package let configuration: ServerConfiguration
  private let base: BaseURL
  let observers: [ObserverQueue]
  let reportsProgress: Bool
  /// The fraction of new traces that observers record.
  let traceSampling: TraceSampling
  /// The header fields that separate users in the cache. `nil` without a cache.
  let credentials: CacheCredentials?
  let authentication: Authentication
  /// The configuration error that fails every call.
  let problem: TaskError?
  /// The standard headers and the user agent.
  let headers: HTTPHeaders
  /// The limits for calls that don't set any.
  let timeouts: Timeouts
  let options: TransferOptions
  let repeatableOptions: TransferOptions
  private let trustedOrigins: Set<Origin>
  /// Whether the server has header fields or cookies that are sent only to its remote.
  let hasOwnHeaders: Bool
  /// The last path without a query, and its URL. Cached because calls often repeat the same path.
  private let lastURL = Lock<(path: String, url: URL)?>(nil)

  init(_ configuration: ServerConfiguration) {
    self.configuration = configuration
    base = BaseURL(configuration.remote, redaction: configuration.redaction)
    trustedOrigins = Set(configuration.trustedOrigins.compactMap { URL(string: $0).flatMap { Origin($0) } })
    hasOwnHeaders =
      configuration.computedHeaders != nil || configuration.cookiePolicy.statesCookies
      || !configuration.standardHeaders.allSatisfy { Self.publicHeaders.contains($0.name) }
    var headers = configuration.standardHeaders
    if !configuration.userAgent.isEmpty { headers.setDefault(configuration.userAgent, for: .userAgent) }
    self.headers = headers
    authentication = configuration.authentication.ofServer
    credentials = configuration.cache == nil ? nil : CacheCredentials(configuration.redaction)
    observers = (configuration.observers + SurroundingObservers.current).map { ObserverQueue($0) }
    traceSampling = observers.reduce(.none) { $0.union($1.traceSampling) }
    reportsProgress = observers.contains { $0.wantsProgress }
    problem =
      configuration.timeouts.problem(timeout: configuration.defaultTimeout, named: "defaultTimeout")
      ?? configuration.pins.problem
    let timeouts = Timeouts.ofAttempts(.inherited, Timeouts(), configuration)
    self.timeouts = timeouts
    var options = TransferOptions()
    options.timeouts = timeouts
    options.decodesBody = configuration.enableGZipDownloads
    options.allowsExpensiveNetworkAccess = configuration.allowsExpensiveNetworkAccess
    options.allowsConstrainedNetworkAccess = configuration.allowsConstrainedNetworkAccess
    options.waitsForConnectivity = configuration.waitsForConnectivity
    options.pins = configuration.pins
    options.addressPolicy = configuration.addressPolicy
    options.showing = ShownParts(configuration.redaction)
    self.options = options
    options.mayRepeat = true
    repeatableOptions = options
  }

  /// Logs configuration errors that will fail calls.
  func logProblems() {
    if let problem { return configuration.log.write("every call will fail: \(problem)") }
    guard let problem = base.problem else { return }
    configuration.log.write("calls to this server will fail: \(problem)")
  }

  func origin(of url: URL) -> Origin? { base.origin(of: url) }

  /// Header fields that reveal nothing about the user and are sent to any origin.
  static let publicHeaders: Set<HTTPHeaderName> = [.accept, .acceptLanguage, .userAgent]

  func standardHeaders(for task: any ServerTask) async throws -> HTTPHeaders {
    guard let compute = configuration.computedHeaders else { return headers }
    var result = headers
    result.replace(with: try await compute(task))
    return result
  }

  /// Returns the server's header fields for a request to `url`. If the origin is neither the remote's nor trusted,
  /// returns only public fields.
  func headers(for task: any ServerTask, at url: URL) async throws -> HTTPHeaders {
    let headers = try await standardHeaders(for: task)
    guard !isTrusted(url) else { return headers }
    return HTTPHeaders(headers.filter { Self.publicHeaders.contains($0.name) })
  }

  /// Whether the server's own header fields can be sent to the URL.
  package func isTrusted(_ url: URL) -> Bool {
    if origin(of: url) != nil { return true }
    guard let target = Origin(url) else { return false }
    return target == base.origin || trustedOrigins.contains(target)
  }

  package func url(path: String, query: HTTPQuery) throws -> URL {
    if query.isEmpty, let last = lastURL.withLock({ $0 }), last.path.hasSameBytes(as: path) { return last.url }
    let url = try base.url(path: path, query: query)
    if query.isEmpty { lastURL.withLock { $0 = (path, url) } }
    return url
  }

  package static func url(of plan: TaskPlan) async throws -> URL {
    try await plan.settings.url(of: plan)
  }

  package func url(of plan: TaskPlan) async throws -> URL {
    if let linked = plan.linkedURL { return linked.url }
    let url = try await statedURL(of: plan.task)
    if let problem = PathSegments.problem(in: url.absoluteString[...]) {
      throw TaskError(
        .badURL, "the URL '\(configuration.redaction(url).shortened)' has \(problem)", phase: .preparing,
        wasNotSent: true)
    }
    return plan.addedQuery.isEmpty ? url : try base.adding(plan.addedQuery, to: url)
  }

  package func adding(_ query: HTTPQuery, to url: URL) throws -> URL { try base.adding(query, to: url) }

  /// Returns the task's URL, computed with this snapshot even if the server's settings have changed since.
  private func statedURL(of task: any ServerTask) async throws -> URL {
    let server = task.server
    if server.uses(self), Self.override == nil {
      let url = try await task.url
      if server.uses(self) { return url }  // the settings have not changed
    }
    return try await Self.$override.withValue(Override(server: ObjectIdentifier(server), snapshot: self)) {
      try await task.url
    }
  }

  /// Returns a task's default URL. Uses the current call's snapshot, or the server's latest snapshot outside a call.
  static func url(below server: Server, path: String, query: HTTPQuery) throws -> URL {
    guard let override, override.server == ObjectIdentifier(server) else {
      return try server.snapshot.url(path: path, query: query)
    }
    return try override.snapshot.url(path: path, query: query)
  }

  private struct Override: Sendable {
    let server: ObjectIdentifier
    let snapshot: ServerSnapshot
  }

  @TaskLocal private static var override: Override?
}

extension PublicKeyPins {
  /// The error for an invalid host name.
  fileprivate var problem: TaskError? {
    guard let host = unknownHosts.first else { return nil }
    return TaskError(
      .badRequest, "pins has '\(host.shortened)', which is not a host name: use its ASCII form, as in a URL",
      phase: .preparing, wasNotSent: true)
  }
}
