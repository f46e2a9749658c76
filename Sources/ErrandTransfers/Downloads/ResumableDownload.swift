public import Errand
public import ErrandFoundation

/// A download that survives lost connections, pauses, crashes and expired URLs, and continues where it stopped.
///
///     let backup = ResumableDownload(GetBackup(id: 7).on(shop), to: file)
///     try await backup.run()
///
/// Until the download is complete, its bytes are kept in a hidden file next to the target, such as
/// `.backup.zip.errand-part`, together with a journal. Only the current user can access these files. A later download
/// of the same task to the same file, for example after a relaunch, continues where this one stopped.
///
/// Each attempt is a separate call: the task is built and signed again, waits for a slot, and is visible to hooks and
/// observers. After the first attempt, only the missing bytes are requested, provided that the server still has the
/// same version (`Range` with `If-Range`). If the version has changed or its validator is weak, the download starts
/// over. Ranges of different versions are never combined.
///
/// Retries follow the task's `RetryPolicy`. An attempt that makes progress resets the retry count and does not use
/// the `RetryBudget`. After a 401 or 403, the task is rebuilt and resent immediately, at most twice in a row. If the
/// host's circuit breaker is open, the next attempt waits until it lets a request through. Temporary failures of the
/// token endpoint are retried. `timeouts.call` limits the entire run, and the idle timeout ends an attempt whose body
/// stalls.
///
/// With `ranges`, several ranges of the file are fetched concurrently if the server supports it. Each range continues
/// where it stopped.
public final class ResumableDownload: Sendable {
  /// The target file.
  public let file: URL
  private let makePlan: @Sendable () -> TaskPlan
  private let aim: DownloadOptions
  private let disk: DownloadDisk
  private let coordinator: TransferCoordinator

  /// Creates a download without starting it.
  ///
  /// - Parameters:
  ///   - task: The task, which must use GET, must not set a range, and must not be `.neverRepeat`, because a request
  ///     whose response was lost is repeated. Its response must not be compressed.
  ///   - file: The target file. When the download is complete, it replaces an existing file or symbolic link. Missing
  ///     folders are created.
  ///   - digest: The expected digest of the file. Defaults to the one sent by the server (`Repr-Digest`,
  ///     `Content-Digest`), if any.
  ///   - identity: A name that identifies the content. Set it if the URL changes with every request, or if different
  ///     accounts get different content from the same URL. Defaults to the URL without common signature parameters.
  ///   - ranges: The maximum number of ranges fetched concurrently, each with its own call. Defaults to 1. The maximum
  ///     is 16. The server must support ranges and send a strong `ETag`.
  ///   - maximumSize: The maximum size of the file in bytes. Defaults to no limit.
  public convenience init(
    _ task: some ServerTask, to file: URL, digest: TransferDigest? = nil, identity: String? = nil, ranges: Int = 1,
    maximumSize: Int64? = nil
  ) {
    let aim = DownloadOptions(
      digest: digest, identity: identity, ranges: min(max(1, ranges), DownloadRanges.most),
      maximumSize: maximumSize.map { max(0, $0) } ?? .max)
    self.init(task, to: file, aim)
  }

  /// Creates a download with short ranges, for tests.
  package convenience init(
    _ task: some ServerTask, to file: URL, digest: TransferDigest? = nil, ranges: Int, smallestRange: Int64
  ) {
    let aim = DownloadOptions(digest: digest, ranges: ranges, smallestRange: smallestRange)
    self.init(task, to: file, aim)
  }

  init(_ task: some ServerTask, to file: URL, _ aim: DownloadOptions, on disk: DownloadDisk = DownloadDisk()) {
    self.file = file
    self.aim = aim
    self.disk = disk
    makePlan = { task.plan }
    coordinator = TransferCoordinator(file.path)
  }

  /// Runs the download until it is complete. Bytes received in earlier runs are not requested again.
  ///
  /// Cancelling the surrounding Swift task stops the download, like ``cancel()``. After a failure, the next run
  /// continues the partial download.
  ///
  /// - Returns: The file, with the head, metrics and record of the last response.
  /// - Throws: The `TaskError` of the last attempt, or `TaskError` with code `.badRequest` if the task does not use
  ///   GET, sets a range or is `.neverRepeat`; `.fileNotWritable` if the file can't be written, for example because the
  ///   disk is full; `.bodyTooLarge` if the file exceeds `maximumSize`; `.digestMismatch` if the digest is wrong, which
  ///   discards the partial download; or `.transferInUse` if the download is already running. Also throws any error
  ///   thrown by a hook, and `CancellationError` if cancelled.
  @discardableResult
  public func run() async throws -> TaskResponse<URL> {
    try await coordinator.run(makePlan()) { [self] in
      let file = try DownloadFile(for: file, on: disk)
      return try await DownloadRun(makePlan, file, coordinator, aim).run()
    }
  }

  /// Pauses the download. The current attempt ends and closes its connection. A download that is paused before
  /// ``run()`` starts when it is resumed.
  ///
  /// - Returns: Whether the download was paused. `false` if it was already paused.
  @discardableResult
  public func pause() -> Bool { coordinator.pause() }

  /// Resumes a paused download where it stopped.
  ///
  /// - Returns: Whether the download was resumed. `false` if it was not paused.
  @discardableResult
  public func resume() -> Bool { coordinator.resume() }

  /// Ends the run with `CancellationError` and keeps the partial download.
  public func cancel() { coordinator.cancel() }

  /// Removes the partial download. The target file is not changed. Throws `TaskError` with code `.transferInUse` if
  /// the download is running, in this process or another.
  public func discard() throws { try DownloadFile.discard(file) }

  /// The current state.
  public var state: TransferState { coordinator.transferState }

  /// The current state, followed by all later states until the run ends. If the last run has already ended, the
  /// sequence contains only the current state.
  ///
  /// Progress is reported at most 20 times a second. A slow reader receives only the latest state. Each access returns
  /// a new sequence.
  public var states: AsyncStream<TransferState> { coordinator.states() }
}
