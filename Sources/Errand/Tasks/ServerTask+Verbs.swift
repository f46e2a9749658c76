public import ErrandFoundation

// All of these methods throw `TaskError` for network and server failures, any error thrown by a hook, or
// `CancellationError` if the call was cancelled.

extension ServerTask {
  /// Sends the request and returns the response. The body is read and discarded.
  ///
  ///     try await RemoveWidget(id: 7).send()
  ///
  /// For a task that declares a payload, `send()` returns the payload instead.
  @discardableResult
  public func send() async throws -> HTTPResponse {
    try await Call.perform(plan, .discarded) { $0.response }
  }

  /// Sends the request and returns the decompressed body.
  ///
  ///     let bytes = try await GetWidget(id: 7).data()
  public func data() async throws -> Data {
    try await Call.perform(plan, .memory) { $0.data }
  }

  /// Sends the request and writes the body to a file.
  ///
  /// Creates missing folders. The file is replaced when the status has been accepted and the body is complete. If the
  /// call fails earlier, the old file is unchanged and no temporary file is left behind, unless the process is killed,
  /// which leaves a file `.errand-…` in the folder. A symbolic link at this path is replaced by the file, and the
  /// link's target does not change. To write to the target, pass `file.resolvingSymlinksInPath()`.
  @discardableResult
  public func download(to file: URL) async throws -> TaskResponse<URL> {
    try await Call.perform(plan, .file(.exact(file))) { TaskResponse(file, $0) }
  }

  /// Sends the request, writes the body to a file and reports progress.
  @discardableResult
  public func download(
    to file: URL, progress: @escaping @Sendable (TransferProgress) -> Void
  ) async throws -> TaskResponse<URL> { try await self.progress(progress).download(to: file) }

  /// Sends the request and writes the body to a file in `folder`, named after ``HTTPResponse/suggestedFileName``.
  ///
  ///     let file = try await Export().download(into: downloads).payload    // downloads/report.pdf
  ///
  /// If a file with that name exists, the new file is called `report (2).pdf`, unless `replacing` is `true`. Creates
  /// missing folders. If the call fails, no file is left behind.
  ///
  /// - Parameters:
  ///   - folder: The destination folder.
  ///   - replacing: Whether to replace an existing file with that name.
  /// - Returns: The response. Its payload is the URL of the file.
  @discardableResult
  public func download(into folder: URL, replacing: Bool = false) async throws -> TaskResponse<URL> {
    try await Call.perform(plan, .file(.named(in: folder, replacing: replacing))) {
      TaskResponse($0.file ?? folder, $0)
    }
  }

  /// Sends the request and returns the response as soon as its head arrives, with the body as a stream.
  ///
  ///     let response = try await Export().stream()
  ///     for try await chunk in response.body { … }
  ///
  /// The call releases its slot when the head arrives and then counts as an open stream (see
  /// ``ThrottleLimits/streamsPerHost``). A slow reader applies backpressure to the server.
  public func stream() async throws -> HTTPResponse { try await Call.stream(plan) }
}

extension PayloadDownloadingTask {
  /// Sends the request and returns the decoded payload.
  ///
  ///     let widget = try await GetWidget(id: 7).send()
  ///     let added = try await AddWidget(uploadPayload: cog).on(shop).send()
  public func send() async throws -> DownloadPayload {
    try await Call.perform(plan, .memory) { try $0.decoded(DownloadPayload.self) }
  }

  /// Sends the request and returns the payload together with the response, metrics and record.
  ///
  ///     let response = try await GetWidget(id: 7).response()
  ///     print(response.payload.name, response.status, response.metrics.attemptCount)
  public func response() async throws -> TaskResponse<DownloadPayload> {
    try await Call.perform(plan, .memory) { TaskResponse(try $0.decoded(DownloadPayload.self), $0) }
  }
}

extension PayloadDownloadingTask where DownloadPayload == NoContent {
  /// Sends the request and returns the response. The body is read and discarded.
  @discardableResult
  public func send() async throws -> HTTPResponse {
    try await Call.perform(plan, .discarded) { $0.response }
  }
}

extension ServerTask {
  /// Sends the task as a HEAD request, without a body.
  ///
  /// The server's policies, header fields, hooks and retries apply as they do to any other call.
  ///
  /// - Returns: The response, without a body.
  /// - Throws: ``TaskError``, any error thrown by a hook, or `CancellationError` if the call was cancelled.
  public func head() async throws -> HTTPResponse {
    var plan = plan
    plan.httpMethod = .head
    plan.omitsBody = true
    return try await Call.perform(plan, .discarded) { $0.response }
  }
}
