public import Foundation

/// Where tasks go: the remote, the default headers, the encoders, the preflight hook and all other settings.
///
///     let shop = Server(remote: "https://api.example.com/v1")
///     await shop.update { $0.defaultTimeout = .seconds(10) }
///
/// A server owns its manager, or is given one to share, and its transport with all connections. There is nothing to
/// shut down: calls that somebody awaits finish, and the connections close with the last reference. The default server
/// lives as long as it is the default.
public actor Server {
  /// Runs the tasks of this server: throttling, cancellation, recording.
  public nonisolated let manager: TaskManager
  package nonisolated let transport: any Transport
  /// The transport, where calls over it can be cancelled without a Swift task for each.
  nonisolated let cancellableTransport: (any CancellableTransport)?
  private nonisolated let state: Lock<ServerSnapshot?> = Lock(nil)

  /// A server at a remote. The first one made is ``default``.
  ///
  /// - Parameters:
  ///   - remote: Where paths begin.
  ///   - configuration: All other settings.
  ///   - transport: How requests are carried; libcurl on Linux, URLSession on Apple platforms unless given.
  ///   - manager: A manager to share; one of its own unless given.
  ///   - asDefault: Whether it becomes ``default`` even where there is one.
  ///   - environment: Where `ERRAND_ECHO`, `ERRAND_LOG_STYLE` and `ERRAND_RECORD` are looked up, once; they go before
  ///     `configuration`.
  public init(
    remote: Remote, configuration: ServerConfiguration = ServerConfiguration(),
    transport: any Transport = .platform, manager: TaskManager = TaskManager(), asDefault: Bool = false,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    self.manager = manager
    self.transport = transport
    let cancellable = transport as? any CancellableTransport
    cancellableTransport = cancellable?.isCancellable ?? false ? cancellable : nil
    var configuration = configuration
    configuration.remote = remote
    let switches = LaunchSwitches(environment)
    switches.apply(to: &configuration)
    switches.apply(to: manager, log: configuration.log)
    let snapshot = ServerSnapshot(configuration, of: ObjectIdentifier(self))
    state.withLock { $0 = snapshot }
    ServerDefault.offer(self, replacing: asDefault)
  }

  /// The settings as they are now.
  public nonisolated var configuration: ServerConfiguration { snapshot.configuration }

  /// Changes settings. Calls that began before keep theirs.
  public func update(_ change: @Sendable (inout ServerConfiguration) throws -> Void) rethrows {
    var configuration = snapshot.configuration
    try change(&configuration)
    let snapshot = ServerSnapshot(configuration, of: ObjectIdentifier(self))
    state.withLock { $0 = snapshot }
    if let problem = snapshot.problem { configuration.log.write("every call will fail: \(problem)") }
  }

  /// Where paths begin.
  public nonisolated var remote: Remote { configuration.remote }

  /// Goes to another remote.
  /// Throws ``TaskError`` with code `.badURL` when it has a fragment; nothing is changed then.
  public func setRemote(_ remote: Remote) throws {
    if let problem = remote.fragmentProblem { throw problem }
    update { $0.remote = remote }
  }

  /// Replaces the standard headers.
  public func setStandardHeaders(_ headers: HTTPHeaders) { update { $0.setStandardHeaders(headers) } }

  /// The header fields that the server gives a task's request to its own origin: standard ones under computed ones.
  /// Throws what the closure that computes them throws.
  public nonisolated func standardHeaders(for task: some ServerTask) async throws -> HTTPHeaders {
    try await snapshot.standardHeaders(for: task)
  }

  package nonisolated var snapshot: ServerSnapshot {
    state.withLock { $0 } ?? ServerSnapshot(ServerConfiguration(), of: ObjectIdentifier(self))
  }
}
