public import ErrandFoundation

/// A download that survives a broken connection, a pause, a crash and an expired URL: it goes on where it was.
///
///     let backup = ResumableDownload(GetBackup(id: 7).on(shop), to: file)
///     try await backup.run()
///
/// The bytes are in a hidden file beside the place until they are complete, `.backup.zip.errand-part`, with a journal beside them, both
/// for this user alone. A later download of the same task to the same place, as after a relaunch, goes on with them.
///
/// Each attempt is a call of its own: the task is built, and signed, anew for it, waits for a slot, and is seen by hooks and observers.
/// From the second on it asks for the rest, on the condition that the remote still has the same version (`Range` with `If-Range`). Where
/// it has another one, or its validator is weak, the download begins again: parts of two versions are never put together.
///
/// A failed attempt is followed by another one as the task's ``RetryPolicy`` says. What an attempt brought makes the next failure the
/// first one again, and costs no ``RetryBudget``. A 401 or 403 has the task built once more at once, twice in a row at most.
/// `timeouts.call` is the deadline of a whole run, and the idle time ends a body that stands still.
///
/// With `ranges` several parts of the file are fetched at the same time, where the remote allows for that; each goes on where it was.
public final class ResumableDownload: Sendable {
  /// The place of the file.
  public let file: URL
  private let makePlan: @Sendable () -> TaskPlan
  private let aim: DownloadAim
  private let disk: DownloadDisk
  private let desk: TransferDesk

  /// A download that does not run yet.
  ///
  /// - Parameters:
  ///   - task: The task, sent with GET. Its body is not to be packed.
  ///   - file: The place of the file; what is there is replaced at the end, a symbolic link too, and missing folders are made.
  ///   - digest: The digest that the file must have. Without one it is checked where the server says it (`Repr-Digest`,
  ///     `Content-Digest`).
  ///   - identity: The name of what is downloaded, where its URL is another one each time, or is of each account's own. The URL unless
  ///     given, without what known signatures add to it.
  ///   - ranges: The most ranges of the file that are fetched at the same time, each by a call of its own; 16 at most. Only where the
  ///     remote sends ranges and a strong `ETag`.
  ///   - maximumSize: The most bytes that the file may have; any number unless given.
  public convenience init(
    _ task: some ServerTask, to file: URL, digest: TransferDigest? = nil, identity: String? = nil, ranges: Int = 1,
    maximumSize: Int64? = nil
  ) {
    let aim = DownloadAim(
      digest: digest, identity: identity, ranges: min(max(1, ranges), DownloadRanges.most),
      maximumSize: maximumSize.map { max(0, $0) } ?? .max)
    self.init(task, to: file, aim)
  }

  /// A download whose ranges may be short: for tests.
  package convenience init(
    _ task: some ServerTask, to file: URL, digest: TransferDigest? = nil, ranges: Int, smallestRange: Int64
  ) {
    let aim = DownloadAim(digest: digest, ranges: ranges, smallestRange: smallestRange)
    self.init(task, to: file, aim)
  }

  init(_ task: some ServerTask, to file: URL, _ aim: DownloadAim, on disk: DownloadDisk = DownloadDisk()) {
    self.file = file
    self.aim = aim
    self.disk = disk
    makePlan = { task.plan }
    desk = TransferDesk(file.path)
  }

  /// Runs the download until it is complete; what is there already is not asked for again.
  ///
  /// Cancelling the surrounding task ends it, as ``cancel()`` does. Whatever fails leaves what is there to the next run.
  ///
  /// - Returns: The file.
  /// - Throws: ``TaskError``: the last attempt's, `.fileNotWritable` where the disk is full, `.bodyTooLarge` where the file is larger than
  ///   it may be, `.digestMismatch` where it is not what it should be, which throws away what is there, `.transferInUse` while it runs
  ///   already. What a hook throws. `CancellationError` when it was cancelled.
  @discardableResult
  public func run() async throws -> URL {
    try await desk.run(makePlan()) { [self] in
      let file = try DownloadFile(for: file, on: disk)
      let run = DownloadRun(makePlan, file, desk, aim)
      try await run.run()
      return self.file
    }
  }

  /// Pauses the download: the attempt under way ends, and with it its connection. A paused download that is not run is not begun.
  ///
  /// - Returns: Whether it is paused because of this.
  @discardableResult
  public func pause() -> Bool { desk.pause() }

  /// Resumes a paused download where it was.
  ///
  /// - Returns: Whether it goes on because of this.
  @discardableResult
  public func resume() -> Bool { desk.resume() }

  /// Ends the run with `CancellationError`, and keeps what is there.
  public func cancel() { desk.cancel() }

  /// Removes what is there of a download that does not run; the file that it would replace stays.
  /// Throws ``TaskError`` with code `.transferInUse` while it runs, here or in another process.
  public func discard() throws { try DownloadFile.discard(file) }

  /// The state.
  public var state: TransferState { desk.transferState }

  /// The states, from the present one to the end of the run that is under way, or of the next one.
  ///
  /// Progress is told at most 20 times a second; a slow reader gets the newest. Each use is a sequence of its own.
  public var states: AsyncStream<TransferState> { desk.states() }
}
