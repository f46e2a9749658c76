public import Errand
public import ErrandFoundation

extension Transport where Self == ReplayTransport {
  /// Replays a file and optionally records to it. By default, nothing is recorded.
  ///
  ///     let shop = Server("https://shop.example", transport: try .replay(from: file, recording: .missing))
  ///
  /// - Parameters:
  ///   - file: An HTTP Archive.
  ///   - recording: The requests that are sent over `Transport.platform` and recorded.
  /// - Returns: The transport. For more options, create a ``ReplayTransport`` directly.
  /// - Throws: `TaskError` with code `.notRecorded` if the file is not an archive, or if it does not exist and
  ///   nothing is recorded.
  public static func replay(from file: URL, recording: ReplayRecording = .none) throws -> ReplayTransport {
    try ReplayTransport(from: file, options: ReplayOptions(recording: recording))
  }

  /// Replays an archive. Nothing is sent.
  public static func replay(from archive: HTTPArchive) -> ReplayTransport { ReplayTransport(archive) }

  /// Replays recorded calls. Nothing is sent.
  public static func replay(from calls: RecordedCalls) -> ReplayTransport { ReplayTransport(calls.calls) }
}

extension Server {
  /// Returns a copy of this server in its current state, with the same manager. The copy's requests are answered by
  /// `transport`.
  ///
  /// The copy has its own cookies and cache, no authentication and no circuit breaker, so recorded responses do not
  /// affect the state used for the network. Retries use the manager's retry budget. To replay a sign-in, create a
  /// server with credentials and this transport.
  ///
  ///     let recorded = shop.replaying(try .replay(from: file))
  ///     try await Server.withDefault(recorded) { … }
  public nonisolated func replaying(_ transport: ReplayTransport) -> Server {
    var settings = configuration
    settings.authentication = .none
    if settings.cookiePolicy.isShared { settings.cookiePolicy = .perServer }
    settings.circuitBreaker = .off
    if settings.cache != nil { settings.cache = MemoryCache() }
    return Server(
      remote, configuration: settings, transport: transport, manager: manager, asDefault: false,
      environment: [:])
  }
}

extension ServerTask {
  /// Returns a copy of the task whose requests are answered from a recording. Everything else stays the same.
  ///
  /// Nothing is sent, regardless of the task's server. If the server's origin is not in the recording, every call
  /// fails. If the same modified task runs again, replay continues where the previous run ended.
  ///
  ///     let widget = try await GetWidget(id: 7).replay(from: file).send()  // sends nothing
  ///
  /// If the file can't be read, the call fails with code `.notRecorded`.
  public func replay(from file: URL) -> Modified<Unmodified> {
    do {
      return replay(from: try ReplayTransport(from: file))
    } catch {
      return modified { $0.problem = error as? TaskError }
    }
  }

  /// Returns a copy of the task whose requests are answered by this transport. Share the transport between tasks to
  /// replay one recording.
  public func replay(from transport: ReplayTransport) -> Modified<Unmodified> {
    modified { $0.replaceServers { $0.replaying(transport) } }
  }
}
