public import ErrandFoundation

// Method names from other libraries, as alternatives to those in `ServerTask+Verbs.swift`.

extension ServerTask {
  /// Sends the request and returns the response, even if the task declares a payload.
  @discardableResult
  public func run() async throws -> HTTPResponse { try await Call.perform(plan, .discarded) { $0.response } }

  /// Sends the request and returns the decompressed body, like `data()`.
  public func downloadData() async throws -> Data { try await data() }
}

extension PayloadDownloadingTask {
  /// Sends the request and returns the decoded payload, like `send()`.
  public func download() async throws -> DownloadPayload { try await send() }
}

extension UploadingTask {
  /// Sends the request and returns the response, like `run()`.
  @discardableResult
  public func upload() async throws -> HTTPResponse { try await run() }
}

extension Endpoint where Download == Void {
  /// Sends the request, like `send()`.
  public func download() async throws { try await run() }
}

extension Endpoint where Upload == HTTPBody {
  /// Sends the request and returns the response, like `run()`.
  @discardableResult
  public func upload() async throws -> HTTPResponse { try await run() }
}

extension Modified {
  /// Sends the request, like `send()`.
  public func download<Upload>() async throws where Base == Endpoint<Upload, Void> { try await run() }

  /// Sends the request and returns the response, like `run()`.
  @discardableResult
  public func upload<Download>() async throws -> HTTPResponse where Base == Endpoint<HTTPBody, Download> {
    try await run()
  }
}
