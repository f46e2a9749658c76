public import ErrandFoundation

/// The destination of tasks: the remote, the default headers, the encoders, the preflight hook and all other settings.
///
///     let shop = Server(remote: "https://api.example.com/v1")
///     await shop.update { $0.defaultTimeout = .seconds(10) }
///
/// A server owns its manager, or is given one to share, and its transport with all connections. There is nothing to
/// shut down: awaited calls finish, and the connections close with the last reference. The default server lives as
/// long as it is the default.
public actor Server {
  /// Runs the tasks of this server: throttling, cancellation, recording.
  public nonisolated let manager: TaskManager
  package nonisolated let transport: any Transport
  /// The cookies of this server, where its policy is to have a jar for itself.
  nonisolated let ownCookies: CookieJar
  /// What its origins have asked of Digest credentials.
  nonisolated let digests = DigestDesk()
  private nonisolated let state: Lock<ServerSnapshot>

  /// A server at a remote. The first one made is ``default``.
  ///
  /// - Parameters:
  ///   - remote: Where paths begin.
  ///   - configuration: All other settings.
  ///   - transport: How requests are carried; libcurl on Linux, URLSession on Apple platforms unless given.
  ///   - manager: A manager to share; one of its own unless given.
  ///   - asDefault: Whether it becomes ``default`` even where there is one.
  ///   - environment: Where `ERRAND_ECHO`, `ERRAND_LOG_STYLE` and `ERRAND_RECORD` are looked up, once; they
  ///     override `configuration`.
  public init(
    remote: Remote, configuration: ServerConfiguration = ServerConfiguration(),
    transport: any Transport = .platform, manager: TaskManager = TaskManager(), asDefault: Bool = false,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    self.manager = manager
    self.transport = transport
    ownCookies = CookieJar(clock: manager.clock)
    var configuration = configuration
    configuration.remote = remote
    let switches = LaunchSwitches(environment)
    switches.apply(to: &configuration)
    switches.apply(to: manager, log: configuration.log)
    state = Lock(Self.snapshot(of: configuration))
    ServerDefault.offer(self, replacing: asDefault)
  }

  /// The settings as they are now.
  public nonisolated var configuration: ServerConfiguration { snapshot.configuration }

  /// Changes settings. Calls that began before keep theirs.
  ///
  /// A property cannot refuse a value: a time limit of nothing, or a remote with a user or a fragment, is written to the log at
  /// once and fails the calls that it concerns. ``setRemote(_:)`` refuses.
  public func update(_ change: @Sendable (inout ServerConfiguration) throws -> Void) rethrows {
    var configuration = snapshot.configuration
    try change(&configuration)
    let changed = Self.snapshot(of: configuration)
    state.withLock { $0 = changed }
  }

  /// The snapshot of a configuration, whose mistakes are logged.
  private static func snapshot(of configuration: ServerConfiguration) -> ServerSnapshot {
    let snapshot = ServerSnapshot(configuration)
    snapshot.logProblems()
    return snapshot
  }

  /// The URL at which paths begin.
  public nonisolated var remote: Remote { configuration.remote }

  /// Goes to another remote.
  /// Throws ``TaskError`` with code `.badURL` when it has a user or a fragment; nothing is changed then.
  public func setRemote(_ remote: Remote) throws {
    try update { try $0.setRemote(remote) }
  }

  /// The jar of calls that name no other; nil where the server keeps no cookies.
  public nonisolated var cookieJar: CookieJar? { configuration.cookiePolicy.jar(own: ownCookies) }

  /// Replaces the standard headers.
  public func setStandardHeaders(_ headers: HTTPHeaders) { update { $0.standardHeaders = headers } }

  /// The header fields that the server gives a task's request to its own origin: standard ones under computed ones.
  /// Throws what the closure that computes them throws.
  public nonisolated func standardHeaders(for task: some ServerTask) async throws -> HTTPHeaders {
    try await snapshot.standardHeaders(for: task.unmodified)
  }

  package nonisolated var snapshot: ServerSnapshot { state.withLock { $0 } }

  /// True while these are its settings.
  nonisolated func uses(_ snapshot: ServerSnapshot) -> Bool { state.withLock { $0 === snapshot } }
}

/// The server of a task that names none.
enum ServerDefault {
  /// The default server of the surrounding Swift task.
  @TaskLocal static var scoped: Server?

  private static let first: Lock<Server?> = Lock(nil)
  @TaskLocal private static var isMakingPlaceholder = false
  private static let placeholder = $isMakingPlaceholder.withValue(true) { Server(remote: .none, environment: [:]) }

  /// Makes a server the default where there is none, or where it is to replace that one.
  static func offer(_ server: Server, replacing: Bool) {
    guard !isMakingPlaceholder else { return }  // or it would keep the first real server from its place
    first.withLock { first in
      if replacing || first == nil { first = server }
    }
  }

  /// Makes a server that does not become the default where there is none.
  static func leavingDefault(_ make: () -> Server) -> Server { $isMakingPlaceholder.withValue(true, operation: make) }

  static var current: Server { scoped ?? first.withLock { $0 } ?? placeholder }
}

extension Server {
  /// The server of tasks that name none: the first that was made, or the last made with `asDefault: true`.
  ///
  /// Before there is one, it is a server without a remote, on which every call fails and says so.
  public static var `default`: Server { ServerDefault.current }

  /// Runs `operation` with another default server, seen by this Swift task and its children only.
  ///
  /// - Parameters:
  ///   - server: What ``default`` is meanwhile.
  ///   - operation: What to run.
  /// - Returns: What `operation` returns.
  /// - Throws: What `operation` throws.
  public static func withDefault<Result>(_ server: Server, operation: () async throws -> Result) async rethrows
    -> Result
  {
    try await ServerDefault.$scoped.withValue(server, operation: operation)
  }
}

extension Server {
  /// Measures how long the remote takes to answer, whatever it answers: a HEAD of the remote's own URL.
  ///
  /// It is a call like any other: a disabled server refuses it, the preflight sees it, the standard headers are sent,
  /// and it waits for its slot; only the time after that counts. It is not repeated, and no cache answers.
  ///
  /// - Returns: From the moment the request had its slot to the end of the answer.
  /// - Throws: ``TaskError`` when there was no answer, or `CancellationError` when the call was cancelled.
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

/// The task of ``Server/ping()``.
struct Ping: ServerHEADTask {
  let server: Server
}

extension Server: CustomStringConvertible {
  /// The name and the URL of its remote, without user and password.
  public nonisolated var description: String { "Server(\(remote))" }
}
