public import ErrandFoundation

/// A server that tasks are sent to, with its remote, default headers, encoders, hooks and all other settings.
///
///     let shop = Server("https://api.example.com/v1") { $0.defaultTimeout = .seconds(10) }
///     let widget: Widget = try await shop.send(.get("widgets/7"))
///
/// A server has its own manager, unless it shares one, and its own transport with its own connections. No shutdown is
/// needed: awaited calls finish, and the connections close when the last reference to the server is released. The
/// default server lives as long as it is the default.
public actor Server {
  /// The manager that runs this server's tasks: throttling, cancellation and recording.
  public nonisolated let manager: TaskManager
  package nonisolated let transport: any Transport
  /// The server's own cookie jar, for the per-server cookie policy.
  nonisolated let ownCookies: CookieJar
  /// The Digest challenges of the server's origins.
  nonisolated let digests = DigestStore()
  private nonisolated let state: Lock<ServerSnapshot>

  /// Creates a server and configures it.
  ///
  ///     let shop = Server("https://api.example.com/v1") {
  ///       $0.defaultTimeout = .seconds(10)
  ///     }
  ///
  /// - Parameters:
  ///   - remote: The base URL for paths: a literal or a ``Remote``.
  ///   - configuration: The settings to start from, passed to `configure`.
  ///   - transport: The HTTP transport. Defaults to libcurl on Linux and URLSession on Apple platforms.
  ///   - manager: A manager to share. Defaults to a new one.
  ///   - asDefault: Whether the server becomes ``default`` unless another server already is. Pass `false` in a library.
  ///   - environment: The source of `ERRAND_ECHO`, `ERRAND_LOG_STYLE` and `ERRAND_RECORD`, which override
  ///     `configuration`. It is read once.
  ///   - configure: Changes the settings before the server is created. Use ``update(_:)`` for later changes.
  public init(
    _ remote: Remote, configuration: ServerConfiguration = ServerConfiguration(),
    transport: any Transport = .platform, manager: TaskManager = TaskManager(), asDefault: Bool = true,
    environment: [String: String] = ProcessInfo.processInfo.environment,
    configure: sending (inout ServerConfiguration) -> Void = { _ in }
  ) {
    self.manager = manager
    self.transport = transport
    ownCookies = CookieJar(clock: manager.clock)
    var configuration = configuration
    configuration.remote = remote
    configure(&configuration)
    let switches = LaunchSwitches(environment)
    switches.apply(to: &configuration)
    switches.apply(to: manager, log: configuration.log)
    state = Lock(Self.snapshot(of: configuration))
    if asDefault { ServerDefault.offer(self) }
  }

  /// Creates a server for a URL and configures it.
  ///
  ///     let shop = Server(mock.url) { $0.retryPolicy = .never }
  ///
  /// - Parameters:
  ///   - url: The base URL for paths.
  ///   - configuration: The settings to start from, passed to `configure`.
  ///   - transport: The HTTP transport. Defaults to libcurl on Linux and URLSession on Apple platforms.
  ///   - manager: A manager to share. Defaults to a new one.
  ///   - asDefault: Whether the server becomes ``default`` unless another server already is. Pass `false` in a library.
  ///   - environment: The source of `ERRAND_ECHO`, `ERRAND_LOG_STYLE` and `ERRAND_RECORD`, which override
  ///     `configuration`. It is read once.
  ///   - configure: Changes the settings before the server is created. Use ``update(_:)`` for later changes.
  public init(
    _ url: URL, configuration: ServerConfiguration = ServerConfiguration(),
    transport: any Transport = .platform, manager: TaskManager = TaskManager(), asDefault: Bool = true,
    environment: [String: String] = ProcessInfo.processInfo.environment,
    configure: sending (inout ServerConfiguration) -> Void = { _ in }
  ) {
    self.init(
      Remote(url), configuration: configuration, transport: transport, manager: manager, asDefault: asDefault,
      environment: environment, configure: configure)
  }

  /// Creates a server for a URL string and configures it.
  ///
  ///     let shop = Server("https://\(host)/v1") { $0.retryPolicy = .never }
  ///
  /// - Parameters:
  ///   - address: The base URL for paths. If it is malformed, the first call fails.
  ///   - configuration: The settings to start from, passed to `configure`.
  ///   - transport: The HTTP transport. Defaults to libcurl on Linux and URLSession on Apple platforms.
  ///   - manager: A manager to share. Defaults to a new one.
  ///   - asDefault: Whether the server becomes ``default`` unless another server already is. Pass `false` in a library.
  ///   - environment: The source of `ERRAND_ECHO`, `ERRAND_LOG_STYLE` and `ERRAND_RECORD`, which override
  ///     `configuration`. It is read once.
  ///   - configure: Changes the settings before the server is created. Use ``update(_:)`` for later changes.
  public init(
    _ address: String, configuration: ServerConfiguration = ServerConfiguration(),
    transport: any Transport = .platform, manager: TaskManager = TaskManager(), asDefault: Bool = true,
    environment: [String: String] = ProcessInfo.processInfo.environment,
    configure: sending (inout ServerConfiguration) -> Void = { _ in }
  ) {
    self.init(
      Remote(address), configuration: configuration, transport: transport, manager: manager, asDefault: asDefault,
      environment: environment, configure: configure)
  }

  /// The current settings.
  public nonisolated var configuration: ServerConfiguration { snapshot.configuration }

  /// Changes settings. Calls that have already begun keep their settings.
  ///
  /// An invalid setting, such as a time limit of zero or a remote with a user name or a fragment, is logged immediately
  /// and fails the affected calls. ``setRemote(_:)`` throws instead.
  public func update(_ change: @Sendable (inout ServerConfiguration) throws -> Void) rethrows {
    var configuration = snapshot.configuration
    try change(&configuration)
    let changed = Self.snapshot(of: configuration)
    state.withLock { $0 = changed }
  }

  private static func snapshot(of configuration: ServerConfiguration) -> ServerSnapshot {
    let snapshot = ServerSnapshot(configuration)
    snapshot.logProblems()
    return snapshot
  }

  /// The base URL for paths.
  public nonisolated var remote: Remote { configuration.remote }

  /// Replaces the remote. If it has a user name or a fragment, throws ``TaskError`` with code `.badURL` and changes
  /// nothing.
  public func setRemote(_ remote: Remote) throws {
    try update { try $0.setRemote(remote) }
  }

  /// The cookie jar for calls that don't select another jar. `nil` if the server does not store cookies.
  public nonisolated var cookieJar: CookieJar? { configuration.cookiePolicy.jar(own: ownCookies) }

  /// Replaces the standard headers.
  public func setStandardHeaders(_ headers: HTTPHeaders) { update { $0.standardHeaders = headers } }

  /// Returns the server's header fields for a task's request to the remote's origin. Computed fields override standard
  /// fields.
  ///
  /// Throws any error thrown by ``ServerConfiguration/computedHeaders``.
  public nonisolated func standardHeaders(for task: some ServerTask) async throws -> HTTPHeaders {
    try await snapshot.standardHeaders(for: task.unmodified)
  }

  package nonisolated var snapshot: ServerSnapshot { state.withLock { $0 } }

  nonisolated func uses(_ snapshot: ServerSnapshot) -> Bool { state.withLock { $0 === snapshot } }
}

enum ServerDefault {
  /// The default server of the surrounding Swift task.
  @TaskLocal static var scoped: Server?

  private static let chosen: Lock<Server?> = Lock(nil)
  private static let placeholder = Server(.none, asDefault: false, environment: [:])
  #if DEBUG
    private static let hasReported = Lock(false)
  #endif

  /// Makes the server the default unless another server already is.
  static func offer(_ server: Server) {
    let earlier = chosen.withLock { chosen -> Server? in
      if let chosen { return chosen }
      chosen = server
      return nil
    }
    #if DEBUG
      if let earlier { report(server, after: earlier) }
    #endif
  }

  static func replace(with server: Server) { chosen.withLock { $0 = server } }

  static var current: Server { scoped ?? chosen.withLock { $0 } ?? placeholder }

  #if DEBUG
    /// Logs, once per process, that a second server could have been the default.
    private static func report(_ server: Server, after earlier: Server) {
      let isFirst = hasReported.withLock { hasReported in
        defer { hasReported = true }
        return !hasReported
      }
      guard isFirst else { return }
      server.configuration.log.write(
        "tasks without a server are sent to the first server created, \(earlier), not to \(server): pass asDefault: false, or set Server.default"
      )
    }
  #endif
}

extension Server {
  /// The server for tasks that don't select one: the first server created with `asDefault: true`, or the last one
  /// assigned.
  ///
  ///     Server.default = shop
  ///     let widget = try await GetWidget(id: 7).send()    // sent to the shop
  ///
  /// Until one is set, it is a server without a remote, and every call fails with an explanation. Inside
  /// ``withDefault(_:operation:)`` it is always the server passed to that method.
  public static var `default`: Server {
    get { ServerDefault.current }
    set { ServerDefault.replace(with: newValue) }
  }

  /// Runs `operation` with a different default server, which is visible only to this Swift task and its child tasks.
  ///
  /// - Parameters:
  ///   - server: The value of ``default`` during `operation`.
  ///   - operation: The closure to run.
  /// - Returns: The result of `operation`.
  /// - Throws: Any error thrown by `operation`.
  public static func withDefault<Result>(_ server: Server, operation: () async throws -> Result) async rethrows
    -> Result
  {
    try await ServerDefault.$scoped.withValue(server, operation: operation)
  }
}

extension Server {
  /// Measures how long the remote takes to respond to a HEAD request, with any status.
  ///
  /// The call behaves like any other: it fails if the server is disabled, the preflight runs, the standard headers are
  /// sent, and it waits for a slot. The time in the queue is not counted. It is never retried or answered from a cache.
  ///
  /// - Returns: The time from acquiring a slot to the end of the response.
  /// - Throws: ``TaskError`` if no response arrived, or `CancellationError` if the call was cancelled.
  @discardableResult
  public nonisolated func ping() async throws -> Duration {
    var plan = Ping(server: self).plan
    plan.retryPolicy = .never
    plan.acceptedStatuses = .all
    plan.hedging = .none
    plan.cachePolicy = .none
    return try await Call.perform(plan, .discarded) { outcome in
      outcome.call.trace.flightRecord.attempts.last?.duration ?? outcome.call.trace.elapsed
    }
  }
}

struct Ping: ServerHEADTask {
  let server: Server
}

extension Server: CustomStringConvertible {
  /// The remote's name and URL, without the user name and password.
  public nonisolated var description: String { "Server(\(remote))" }
}
