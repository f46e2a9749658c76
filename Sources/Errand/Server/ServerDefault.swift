/// Which server a task uses that names none.
enum ServerDefault {
  /// For the surrounding Swift task only.
  @TaskLocal static var scoped: Server?

  private static let first: Lock<Server?> = Lock(nil)
  @TaskLocal private static var isMakingPlaceholder = false
  private static let placeholder = $isMakingPlaceholder.withValue(true) { Server(remote: .none, environment: [:]) }

  /// Called for every server made.
  static func offer(_ server: Server, replacing: Bool) {
    guard !isMakingPlaceholder else { return }  // or it would keep the first real server from its place
    first.withLock { first in
      if replacing || first == nil { first = server }
    }
  }

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
