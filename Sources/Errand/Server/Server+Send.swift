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

extension ServerTask {
  fileprivate func plan(on server: Server) -> TaskPlan {
    var plan = plan
    plan.change { $0.server = server }
    return plan
  }
}
