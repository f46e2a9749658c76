public import ErrandFoundation

extension TaskManager {
  /// Starts a task without waiting for it and returns its handle.
  ///
  ///     shop.manager.start(Report(crash))                       // runs without a handle
  ///     search = shop.manager.start(Search(text), lifetime: .scoped)   // cancelled when `search` is replaced
  ///
  /// The task runs on its own server, within the limits of that server's manager.
  ///
  /// - Parameters:
  ///   - task: The task.
  ///   - lifetime: Whether the call continues when the handle is released. Defaults to `.managed`: the call continues.
  /// - Returns: The handle, whose value is the payload.
  @discardableResult
  public nonisolated func start<Described: PayloadDownloadingTask>(
    _ task: Described, lifetime: TaskHandleLifetime = .managed
  ) -> TaskHandle<Described.DownloadPayload> {
    Self.begin(task, .memory, lifetime) { try $0.decoded(Described.DownloadPayload.self) }
  }

  /// Starts a task that declares no payload, without waiting for it.
  ///
  /// - Parameters:
  ///   - task: The task.
  ///   - lifetime: Whether the call continues when the handle is released. Defaults to `.managed`: the call continues.
  /// - Returns: The handle, whose value is the response.
  @discardableResult
  public nonisolated func start<Described: ServerTask>(
    _ task: Described, lifetime: TaskHandleLifetime = .managed
  ) -> TaskHandle<HTTPResponse> {
    Self.begin(task, .discarded, lifetime) { $0.response }
  }

  /// Starts a download to a file without waiting for it.
  ///
  /// - Parameters:
  ///   - task: The task.
  ///   - file: The destination. It is replaced once the body is complete.
  ///   - lifetime: Whether the call continues when the handle is released. Defaults to `.managed`: the call continues.
  /// - Returns: The handle, whose value is the response with the file as its payload.
  @discardableResult
  public nonisolated func start<Described: ServerTask>(
    _ task: Described, downloadingTo file: URL, lifetime: TaskHandleLifetime = .managed
  ) -> TaskHandle<TaskResponse<URL>> {
    Self.begin(task, .file(.exact(file)), lifetime) { TaskResponse(file, $0) }
  }

  private static func begin<Value: Sendable>(
    _ task: some ServerTask, _ destination: BodyDestination, _ lifetime: TaskHandleLifetime,
    finish: @escaping @Sendable (Outcome) async throws -> Value
  ) -> TaskHandle<Value> {
    // A retry may run in another context: keep this context's default server.
    let scoped = ServerDefault.scoped
    let operation = OperationKey()  // another run repeats the same operation
    let work = HandleWork<Value>(of: { ServerDefault.$scoped.withValue(scoped) { task.plan } }) { plan in
      try await ServerDefault.$scoped.withValue(scoped) {
        var plan = plan
        plan.operation = operation
        return try await Call.perform(plan, destination, finish: finish)
      }
    }
    work.start()
    return TaskHandle(work, lifetime)
  }
}
