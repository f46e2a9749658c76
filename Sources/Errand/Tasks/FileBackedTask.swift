public import ErrandFoundation

/// A condition for a download to a file.
public enum DownloadCondition: Sendable, Hashable {
  /// Always.
  case always
  /// Only where the remote has another version than the file, as its `ETag` or `Last-Modified` says.
  case changed
}

/// A task whose body belongs in a file, which is downloaded again only where the remote has another version.
///
///     struct Catalogue: FileBackedTask {
///       let path = "catalogue.json"
///       let file: URL
///     }
///     let catalogue = Catalogue(file: folder.appendingPathComponent("catalogue.json"))
///     try await catalogue.refresh()                 // 304: the file stays as it is
///     let data = try await catalogue.contents()     // of the file, where the remote cannot be reached
public protocol FileBackedTask: ServerTask {
  /// The file.
  var file: URL { get }
}

extension FileBackedTask {
  /// Downloads to the file, unless that is still good: ``TaskResponse/isUnchanged`` says so.
  @discardableResult
  public func refresh() async throws -> TaskResponse<URL> { try await download(to: file, when: .changed) }

  /// Downloads to the file unless that is still good, and returns its contents. Where the remote cannot be reached, or fails,
  /// and there is a file, its contents as they are.
  /// Throws ``TaskError``, what a hook threw, or `CancellationError` when the call was cancelled.
  public func contents() async throws -> Data {
    do {
      try await refresh()
    } catch let error as TaskError where error.isFailureOfRemote || error.status?.isServerFailure ?? false {
      guard let data = try? Data(contentsOf: file) else { throw error }  // there is none to fall back on
      return data
    }
    return try Data(contentsOf: file)
  }
}

extension ServerTask {
  /// Runs the task and writes the body to a file, on a condition.
  ///
  /// With `.changed`, the remote is told which version the file has; where that is still good, the file stays as it is, and
  /// ``TaskResponse/isUnchanged`` is true. A file that was changed since, or was downloaded otherwise, is replaced. What is
  /// known of its version is in a hidden file beside it.
  @discardableResult
  public func download(to file: URL, when condition: DownloadCondition) async throws -> TaskResponse<URL> {
    var plan = plan
    plan.keepsCurrentFile = condition == .changed
    return try await Call.perform(plan, .file(.exact(file))) { TaskResponse(file, $0) }
  }

  /// The task with a response that is used where the cache has none, such as one that comes with the app.
  ///
  ///     let shown = try await GetCatalogue().preloaded(from: bundled).caching(.networkFirst(limit: .seconds(2))).download()
  ///
  /// It counts as stale. With ``CachePolicy/standard`` it is used where the remote cannot be reached, or fails.
  public func preloaded(from file: URL) -> Modified<Unmodified> { modified { $0.preloaded = file } }
}

extension TaskResponse {
  /// True where nothing was downloaded: the file is still good.
  public var isUnchanged: Bool { response.status == .notModified }
}
