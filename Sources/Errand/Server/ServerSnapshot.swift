package import ErrandFoundation

/// A server's configuration as it was when a call began, with what can be prepared once for all calls.
package final class ServerSnapshot: Sendable {
  package let configuration: ServerConfiguration
  private let base: BaseURL
  /// The observers of every call.
  let observers: [ObserverQueue]
  /// True where one of them is told of the bytes of bodies.
  let tellsProgress: Bool
  /// The part of new traces that one of them records.
  let traceSampling: TraceSampling
  /// The fields by which the cache keeps users apart; nil where there is no cache.
  let credentials: CacheCredentials?
  /// The mistake in the configuration that fails every call; nil where there is none.
  let problem: TaskError?
  /// The first fields of every request: the standard headers and the user agent.
  let headers: HTTPHeaders
  /// The limits of calls that state none.
  let timeouts: Timeouts
  /// The options of every transfer, but for what the call says.
  let options: TransferOptions
  /// The same, for those that may be repeated.
  let repeatableOptions: TransferOptions
  /// Other origins to which the server's header fields go.
  private let trustedOrigins: Set<Origin>
  /// True when the server has header fields, or cookies, that stay with its remote.
  let hasOwnHeaders: Bool
  /// The last path without a query, and its URL: what is called often is often the same.
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
    credentials = configuration.cache == nil ? nil : CacheCredentials(configuration.redaction)
    observers = (configuration.observers + SurroundingObservers.current).map { ObserverQueue($0) }
    traceSampling = observers.reduce(.none) { $0.union($1.traceSampling) }
    tellsProgress = observers.contains { $0.wantsProgress }
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

  /// Writes to the log what calls will fail with.
  func logProblems() {
    if let problem { return configuration.log.write("every call will fail: \(problem)") }
    guard let problem = base.problem else { return }
    configuration.log.write("every call below the remote will fail: \(problem)")
  }

  /// The origin of a URL that is below the remote; nil for any other.
  func origin(of url: URL) -> Origin? { base.origin(of: url) }

  /// Header fields that reveal nothing about the user: they go wherever a call goes.
  static let publicHeaders: Set<HTTPHeaderName> = [.accept, .acceptLanguage, .userAgent]

  /// The server's fields for a task: standard ones under computed ones.
  func standardHeaders(for task: any ServerTask) async throws -> HTTPHeaders {
    guard let compute = configuration.computedHeaders else { return headers }
    var result = headers
    result.replace(with: try await compute(task))
    return result
  }

  /// The fields that every request of a task to `url` starts with: standard ones under computed ones. An origin that is
  /// neither the remote's nor trusted gets only the public ones.
  func headers(for task: any ServerTask, at url: URL) async throws -> HTTPHeaders {
    let headers = try await standardHeaders(for: task)
    guard !isHome(url) else { return headers }
    return HTTPHeaders(headers.filter { Self.publicHeaders.contains($0.name) })
  }

  /// True when the server's own fields may go to a URL.
  func isHome(_ url: URL) -> Bool {
    if origin(of: url) != nil { return true }
    guard let target = Origin(url) else { return false }
    return target == base.origin || trustedOrigins.contains(target)
  }

  /// The URL for a path below the remote.
  package func url(path: String, query: HTTPQuery) throws -> URL {
    if query.isEmpty, let last = lastURL.withLock({ $0 }), last.path.hasSameBytes(as: path) { return last.url }
    let url = try base.url(path: path, query: query)
    if query.isEmpty { lastURL.withLock { $0 = (path, url) } }
    return url
  }

  /// The URL for a plan: its task's, with the plan's additions.
  package static func url(of plan: TaskPlan) async throws -> URL {
    try await plan.server.snapshot.url(of: plan)
  }

  /// The URL for a plan: its task's, with the plan's additions.
  package func url(of plan: TaskPlan) async throws -> URL {
    if let linked = plan.linkedURL { return linked.url }
    let url = try await statedURL(of: plan.task)
    if let problem = PathSegments.problem(in: url.absoluteString[...]) {
      throw TaskError(
        .badURL, "the URL '\(configuration.redaction(url).shortened)' has \(problem)", phase: .preparing,
        isSurelyNotSent: true)
    }
    return plan.addedQuery.isEmpty ? url : try base.adding(plan.addedQuery, to: url)
  }

  /// A URL with more in its query.
  func adding(_ query: HTTPQuery, to url: URL) throws -> URL { try base.adding(query, to: url) }

  /// The URL that a task states, or that its server makes of this snapshot.
  private func statedURL(of task: any ServerTask) async throws -> URL {
    let server = task.server
    if server.uses(self), Self.override == nil {
      let url = try await task.url
      if server.uses(self) { return url }  // it was made of no other
    }
    return try await Self.$override.withValue(Override(server: ObjectIdentifier(server), snapshot: self)) {
      try await task.url
    }
  }

  /// A task's default URL: by the snapshot of the call in flight, else the server's present one.
  static func url(below server: Server, path: String, query: HTTPQuery) throws -> URL {
    guard let override, override.server == ObjectIdentifier(server) else {
      return try server.snapshot.url(path: path, query: query)
    }
    return try override.snapshot.url(path: path, query: query)
  }

  /// While a call asks its task for the URL: that task's server, and the snapshot to use for it.
  private struct Override: Sendable {
    let server: ObjectIdentifier
    let snapshot: ServerSnapshot
  }

  @TaskLocal private static var override: Override?
}

extension PublicKeyPins {
  /// The error for a host that is none; nil where there is none of those.
  fileprivate var problem: TaskError? {
    guard let host = unknownHosts.first else { return nil }
    return TaskError(
      .badRequest, "pins has the host '\(host.shortened)', which is not a host name: write it as in a URL, in ASCII",
      phase: .preparing, isSurelyNotSent: true)
  }
}
