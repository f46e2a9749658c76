public import ErrandFoundation

// All of these methods throw `TaskError` for network and server failures, any error thrown by a hook, or
// `CancellationError` if the call was cancelled.

extension Server {
  /// Sends an endpoint's request to this server and returns the decoded payload, whose type can be inferred.
  ///
  ///     let widget: Widget = try await shop.send(.get("widgets/7"))
  ///     let added: Widget = try await shop.send(.post("widgets", body: widget))
  @_disfavoredOverload  // for an explicit Endpoint whose payload is NoContent
  public nonisolated func send<Upload, Download: Decodable & Sendable>(
    _ endpoint: Endpoint<Upload, Download>
  ) async throws -> Download {
    try await Call.perform(endpoint.plan(on: self), .memory) { try $0.decoded(Download.self) }
  }

  /// Sends an endpoint's request to this server. The response's body is read and discarded.
  ///
  ///     try await shop.send(.post("logout"))
  ///     try await shop.send(.delete("widgets/7"))
  public nonisolated func send<Upload>(_ endpoint: Endpoint<Upload, Void>) async throws {
    try await Call.perform(endpoint.plan(on: self), .discarded) { _ in }
  }

  /// Sends a task's request to this server and returns the decoded payload.
  ///
  ///     let widget = try await shop.send(GetWidget(id: 7))
  ///     let added = try await shop.send(AddWidget(uploadPayload: cog).timeout(.seconds(5)))
  ///
  /// This server overrides the task's own server.
  public nonisolated func send<Described: PayloadDownloadingTask>(
    _ task: Described
  ) async throws -> Described.DownloadPayload {
    try await Call.perform(task.plan(on: self), .memory) { try $0.decoded(Described.DownloadPayload.self) }
  }

  /// Sends a task's request to this server and returns the response. The body is read and discarded.
  ///
  ///     try await shop.send(PlaceOrder(uploadPayload: order))
  @discardableResult
  public nonisolated func send<Described: PayloadDownloadingTask>(
    _ task: Described
  ) async throws -> HTTPResponse where Described.DownloadPayload == NoContent {
    try await Call.perform(task.plan(on: self), .discarded) { $0.response }
  }

  /// Sends a task's request to this server and returns the response. The body is read and discarded.
  ///
  ///     try await shop.send(RemoveWidget(id: 7))
  ///
  /// A task that declares a payload returns the payload instead.
  @discardableResult
  public nonisolated func send<Described: ServerTask>(_ task: Described) async throws -> HTTPResponse {
    try await Call.perform(task.plan(on: self), .discarded) { $0.response }
  }
}

extension Server {
  /// Sends a task's request to this server and returns the payload together with the response, metrics and record.
  ///
  ///     let response = try await shop.response(GetWidget(id: 7))
  ///     print(response.payload.name, response.status, response.metrics.attemptCount)
  public nonisolated func response<Described: PayloadDownloadingTask>(
    _ task: Described
  ) async throws -> TaskResponse<Described.DownloadPayload> {
    try await Call.perform(task.plan(on: self), .memory) {
      TaskResponse(try $0.decoded(Described.DownloadPayload.self), $0)
    }
  }

  /// Sends an endpoint's request to this server and returns the payload together with the response, metrics and record.
  ///
  ///     let response: TaskResponse<Widget> = try await shop.response(.get("widgets/7"))
  @_disfavoredOverload
  public nonisolated func response<Upload, Download: Decodable & Sendable>(
    _ endpoint: Endpoint<Upload, Download>
  ) async throws -> TaskResponse<Download> {
    try await Call.perform(endpoint.plan(on: self), .memory) { TaskResponse(try $0.decoded(Download.self), $0) }
  }

  /// Sends a task's request to this server and returns the decompressed body.
  public nonisolated func data(_ task: some ServerTask) async throws -> Data {
    try await task.on(self).data()
  }

  /// Sends an endpoint's request to this server and returns the decompressed body.
  ///
  ///     let image = try await shop.data(.get("widgets/7/image"))
  @_disfavoredOverload
  public nonisolated func data<Upload>(_ endpoint: Endpoint<Upload, Data>) async throws -> Data {
    try await endpoint.on(self).data()
  }

  /// Sends a task's request to this server and writes the body to a file, like ``ServerTask/download(to:)``.
  @discardableResult
  public nonisolated func download(_ task: some ServerTask, to file: URL) async throws -> TaskResponse<URL> {
    try await task.on(self).download(to: file)
  }

  /// Sends an endpoint's request to this server and writes the body to a file, like ``ServerTask/download(to:)``.
  ///
  ///     try await shop.download(.get("catalog.pdf"), to: file)
  @_disfavoredOverload
  @discardableResult
  public nonisolated func download<Upload>(
    _ endpoint: Endpoint<Upload, Data>, to file: URL
  ) async throws -> TaskResponse<URL> {
    try await endpoint.on(self).download(to: file)
  }

  /// Sends a task's request to this server and writes the body to a file in a folder, like
  /// ``ServerTask/download(into:replacing:)``.
  @discardableResult
  public nonisolated func download(
    _ task: some ServerTask, into folder: URL, replacing: Bool = false
  ) async throws -> TaskResponse<URL> {
    try await task.on(self).download(into: folder, replacing: replacing)
  }

  /// Sends a task's request to this server and returns the response with its body as a stream, like
  /// ``ServerTask/stream()``.
  public nonisolated func stream(_ task: some ServerTask) async throws -> HTTPResponse {
    try await task.on(self).stream()
  }

  /// Sends an endpoint's request to this server and returns the response with its body as a stream, like
  /// ``ServerTask/stream()``.
  ///
  ///     let response = try await shop.stream(.get("export"))
  ///     for try await chunk in response.body { … }
  @_disfavoredOverload
  public nonisolated func stream<Upload>(_ endpoint: Endpoint<Upload, Data>) async throws -> HTTPResponse {
    try await endpoint.on(self).stream()
  }
}

extension ServerTask {
  fileprivate func plan(on server: Server) -> TaskPlan {
    var plan = plan
    plan.change { $0.server = server }
    return plan
  }
}
