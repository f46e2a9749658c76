public import ErrandFoundation

/// The condition for downloading a file.
public enum DownloadCondition: Sendable, Hashable {
  /// Downloads every time.
  case always
  /// Downloads only if the server has a different version, according to its `ETag` or `Last-Modified`.
  case changed
}

/// A task whose response body is stored in a file and downloaded only when it changes on the server.
///
///     struct Catalogue: FileBackedTask {
///       let path = "catalogue.json"
///       let file: URL
///     }
///     let catalogue = Catalogue(file: folder.appendingPathComponent("catalogue.json"))
///     try await catalogue.refresh()                 // 304: the file is unchanged
///     let data = try await catalogue.contents()     // from the existing file if the server can't be reached
public protocol FileBackedTask: ServerTask {
  /// The file that stores the response body.
  var file: URL { get }
}

extension FileBackedTask {
  /// Downloads the file unless it is up to date. If it is, ``TaskResponse/isUnchanged`` is `true`.
  @discardableResult
  public func refresh() async throws -> TaskResponse<URL> { try await download(to: file, when: .changed) }

  /// Returns the file's contents. Downloads the file first unless it is up to date. If the server fails or can't be
  /// reached, returns the contents of the existing file. Throws ``TaskError``, any error of a hook that checks the
  /// response, or `CancellationError` if the call was cancelled.
  public func contents() async throws -> Data {
    do {
      try await refresh()
    } catch let error as TaskError where error.allowsOlderFile {
      guard let data = try? Data(contentsOf: file) else { throw error }
      return data
    }
    return try Data(contentsOf: file)
  }
}

extension TaskError {
  fileprivate var allowsOlderFile: Bool { !isLocal && (isFailureOfRemote || status?.isServerFailure ?? false) }
}

extension ServerTask {
  /// Sends the request and writes the body to a file, if `condition` is met.
  ///
  /// With `.changed`, the request is conditional. If the server has no newer version, the file is unchanged and
  /// ``TaskResponse/isUnchanged`` is `true`. A file that has been modified, or was not downloaded by this method, is
  /// replaced. The file's version is stored in a hidden file next to it.
  @discardableResult
  public func download(to file: URL, when condition: DownloadCondition) async throws -> TaskResponse<URL> {
    var plan = plan
    plan.keepsCurrentFile = condition == .changed
    return try await Call.perform(plan, .file(.exact(file))) { TaskResponse(file, $0) }
  }

  /// Uses `file`, such as one bundled with the app, as the response if no response is cached.
  ///
  ///     let shown = try await GetCatalogue().preloaded(from: bundled).caching(.networkFirst(limit: .seconds(2))).send()
  ///
  /// The file is treated as a stale response. With ``CachePolicy/standard``, it is used if the server fails or can't be
  /// reached.
  public func preloaded(from file: URL) -> Modified<Unmodified> { modified { $0.preloaded = file } }
}

extension TaskResponse {
  /// Whether the file was up to date and nothing was downloaded.
  public var isUnchanged: Bool { response.status == .notModified }
}
