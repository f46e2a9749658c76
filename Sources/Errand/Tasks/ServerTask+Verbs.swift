public import ErrandFoundation

// Verbs only forward: each names what becomes of the body, and what is made of it. All of them throw `TaskError` for
// anything the network or the remote did, what a hook threw, or `CancellationError` when the call was cancelled.

extension ServerTask {
  /// Runs the task and returns the response, its body read and dropped.
  @discardableResult
  public func run() async throws -> HTTPResponse {
    try await Call.perform(plan, .discarded) { $0.response }
  }

  /// Runs the task and returns the body as it came, decompressed.
  public func downloadData() async throws -> Data {
    try await Call.perform(plan, .memory) { $0.data }
  }

  /// Runs the task and writes the body to a file.
  ///
  /// Missing folders are made. The file is replaced once the body is complete and its status was accepted; whatever
  /// fails before leaves the old one in place and nothing else behind. A symbolic link in the place is replaced by the file, and
  /// its target stays as it is: to write to the target, pass `file.resolvingSymlinksInPath()`.
  @discardableResult
  public func download(to file: URL) async throws -> TaskResponse<URL> {
    try await Call.perform(plan, .file(.exact(file))) { TaskResponse(file, $0) }
  }

  /// Runs the task and writes the body to a file, its progress told.
  @discardableResult
  public func download(
    to file: URL, progress: @escaping @Sendable (TransferProgress) -> Void
  ) async throws -> TaskResponse<URL> { try await self.progress(progress).download(to: file) }

  /// Runs the task and writes the body to a file in a folder, named by the response: see ``HTTPResponse/suggestedFileName``.
  ///
  ///     let file = try await Export().download(into: downloads).payload    // downloads/report.pdf
  ///
  /// A file of that name stays, and the new one is `report (2).pdf`, unless it is to be replaced. Missing folders are made. Whatever
  /// fails leaves nothing behind.
  ///
  /// - Parameters:
  ///   - folder: The folder.
  ///   - replacing: Whether a file of that name is replaced.
  /// - Returns: The response, whose payload is the file.
  @discardableResult
  public func download(into folder: URL, replacing: Bool = false) async throws -> TaskResponse<URL> {
    try await Call.perform(plan, .file(.named(in: folder, replacing: replacing))) {
      TaskResponse($0.file ?? folder, $0)
    }
  }

  /// Runs the task and returns the head of the response, its body as it comes.
  ///
  ///     let response = try await Export().stream()
  ///     for try await chunk in response.body { … }
  ///
  /// The slot of the call is given back with the head; from then on it counts as an open stream, see
  /// ``ThrottleLimits/streamsPerHost``. A slow reader makes the server wait.
  public func stream() async throws -> HTTPResponse { try await Call.stream(plan) }
}

extension UploadingTask {
  /// Sends the body and returns the response, whose own body is read and dropped.
  @discardableResult
  public func upload() async throws -> HTTPResponse { try await run() }
}

extension PayloadDownloadingTask {
  /// Runs the task and returns the payload.
  public func download() async throws -> DownloadPayload {
    try await Call.perform(plan, .memory) { try $0.decoded(DownloadPayload.self) }
  }

  /// Runs the task and returns the payload with the response, its metrics and its record.
  public func response() async throws -> TaskResponse<DownloadPayload> {
    try await Call.perform(plan, .memory) { TaskResponse(try $0.decoded(DownloadPayload.self), $0) }
  }
}

extension ServerTask {
  /// Sends the task's request as HEAD, without its body.
  ///
  /// Everything else is as in any other call: the server's rules, headers, hooks and retries.
  ///
  /// - Returns: The response; it has no body.
  /// - Throws: ``TaskError``, what a hook threw, or `CancellationError` when the call was cancelled.
  public func head() async throws -> HTTPResponse {
    var plan = plan
    plan.httpMethod = .head
    plan.omitsBody = true
    return try await Call.perform(plan, .discarded) { $0.response }
  }
}
