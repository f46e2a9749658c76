public import ErrandFoundation

/// An upload in pieces that survives a broken connection, a pause and a crash: it goes on where the server is.
///
///     let upload = ResumableUpload(of: video, with: AddVideo().on(shop), by: .tus)
///     try await upload.run()
///
/// The task describes the request that begins the upload: its URL, header and hooks, and the body that some protocols take there. Each
/// request after it has the same server, header, preflight and settings, and goes to the place that the server has named. It is a call of
/// its own, built and signed anew.
///
/// What the server has is asked for after each failure, and it counts. A failed request is followed by another one as the task's
/// ``RetryPolicy`` says; what it brought makes the next failure the first one again. An upload that the server does not know any more is
/// begun again.
///
/// A journal beside the file, for this user alone, names the place of the upload; whoever makes an upload of the same file to the same URL
/// later goes on with it. A file that was changed meanwhile is sent anew, and one that is changed while it is sent fails the run.
public final class ResumableUpload: Sendable {
  /// The file.
  public let file: URL
  private let makePlan: @Sendable () -> TaskPlan
  private let dialect: any UploadDialect
  private let chunkSize: Int64
  private let type: MediaType
  private let journal: URL
  private let desk: TransferDesk

  /// An upload that does not run yet.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - task: The task whose URL takes the upload.
  ///   - dialect: The protocol that the server speaks.
  ///   - chunkSize: The size of a piece in bytes; `.max` sends all that is left at once.
  ///   - type: The media type of the file; by its extension unless given.
  ///   - folder: The folder of the journal; that of the file unless given.
  public init(
    of file: URL, with task: some ServerTask, by dialect: some UploadDialect,
    chunkSize: Int = 8 << 20,
    type: MediaType? = nil, journalIn folder: URL? = nil
  ) {
    self.file = file
    self.dialect = dialect
    self.chunkSize = Int64(max(1, chunkSize))
    self.type = type ?? MediaType(fileExtension: file.pathExtension) ?? .octetStream
    journal = folder.map { $0.appendingPathComponent(file.lastPathComponent) } ?? file
    makePlan = { task.plan }
    desk = TransferDesk(file.path)
  }

  /// Runs the upload until the server has all of the file; what it has already is not sent again.
  ///
  /// Cancelling the surrounding task ends it, as ``cancel()`` does. Whatever fails leaves what the server has to the next run.
  ///
  /// - Returns: The last answer of the server, with its body.
  /// - Throws: ``TaskError``: the last request's, `.unreadableBody` where the file cannot be read or was changed, `.transferInUse` while it
  ///   runs already. What a hook throws. `CancellationError` when it was cancelled.
  @discardableResult
  public func run() async throws -> TaskResponse<Data> {
    try await desk.run { [self] in try await withRun { try await $0.run() } }
  }

  /// Pauses the upload: the request under way ends.
  ///
  /// - Returns: Whether it is paused because of this.
  @discardableResult
  public func pause() -> Bool { desk.pause() }

  /// Resumes a paused upload where the server is.
  ///
  /// - Returns: Whether it goes on because of this.
  @discardableResult
  public func resume() -> Bool { desk.resume() }

  /// Ends the run with `CancellationError`; the server keeps what it has.
  public func cancel() { desk.cancel() }

  /// Has the server forget an upload that does not run, and forgets it here.
  /// Throws ``TaskError`` with code `.transferInUse` while it runs, or that of the request.
  public func discard() async throws { try await withRun { try await $0.discard() } }

  /// The state.
  public var state: TransferState { desk.transferState }

  /// The states, from the present one to the end of the run that is under way, or of the next one.
  ///
  /// Progress is told at most 20 times a second; a slow reader gets the newest. Each use is a sequence of its own.
  public var states: AsyncStream<TransferState> { desk.states() }

  /// Runs `body` with the one run that may be.
  private func withRun<Value: Sendable>(_ body: (UploadRun) async throws -> Value) async throws
    -> Value
  {
    let place = try TransferPlace(journal)
    let lock = try LockedFile(place.path("lock"), of: file.path)
    defer {
      place.remove("lock")
      lock.release()
    }
    return try await body(
      try UploadRun(makePlan, file, dialect, chunkSize: chunkSize, type: type, place, desk))
  }
}
