public import ErrandFoundation

extension Transport where Self == ReplayTransport {
  /// Answers from a file, and records into it what is stated; nothing unless it is.
  ///
  ///     let shop = Server(remote: "https://shop.example", transport: try .replay(from: file, recording: .missing))
  ///
  /// - Parameters:
  ///   - file: An HTTP Archive.
  ///   - recording: The requests that go to the network, over ``Transport/platform``.
  /// - Returns: The transport; for more options make a ``ReplayTransport``.
  /// - Throws: ``TaskError`` with code `.notRecorded` for a file that is no archive, or that is not there and is not to be recorded.
  public static func replay(from file: URL, recording: ReplayRecording = .none) throws -> ReplayTransport {
    try ReplayTransport(from: file, options: ReplayOptions(recording: recording))
  }

  /// Answers from an archive; nothing is sent.
  public static func replay(from archive: HTTPArchive) -> ReplayTransport { ReplayTransport(archive) }

  /// Answers from recorded calls; nothing is sent.
  public static func replay(from calls: RecordedCalls) -> ReplayTransport { ReplayTransport(calls.calls) }
}

extension Server {
  /// A server like this one as it is now, with the same manager, whose requests that transport answers.
  ///
  /// Its cookies and its cache are its own, it signs in with nothing, and its failures open no circuit: what was recorded takes the place
  /// of nothing that is kept for the network. Retries spend the manager's budget. To play a sign-in, give a server of its own credentials and this transport.
  ///
  ///     let recorded = shop.replaying(try .replay(from: file))
  ///     try await Server.withDefault(recorded) { … }
  public nonisolated func replaying(_ transport: ReplayTransport) -> Server {
    var settings = configuration
    settings.authentication = .none
    if settings.cookiePolicy.isShared { settings.cookiePolicy = .perServer }
    settings.circuitBreaker = .off
    if settings.cache != nil { settings.cache = MemoryCache() }
    return ServerDefault.leavingDefault { [settings] in
      Server(
        remote: remote, configuration: settings, transport: transport, manager: manager, environment: [:])
    }
  }
}

extension ServerTask {
  /// The task answered from a recording, with all else as it is, whatever server it runs on: nothing is sent, also where that has another origin, of which nothing is recorded. Runs of the same modified task play it one after the other.
  ///
  ///     let widget = try await GetWidget(id: 7).replay(from: file).download()  // sends nothing
  ///
  /// A file that cannot be read fails the call, with code `.notRecorded`.
  public func replay(from file: URL) -> Modified<Unmodified> {
    do {
      return replay(from: try ReplayTransport(from: file))
    } catch {
      return modified { $0.problem = error as? TaskError }
    }
  }

  /// The task answered by this transport, from its recording or the network. Share the transport among tasks that play one recording.
  public func replay(from transport: ReplayTransport) -> Modified<Unmodified> {
    modified { $0.replaceServers { $0.replaying(transport) } }
  }
}
