public import ErrandFoundation

/// An upload in pieces that survives a broken connection, a pause and a crash: it goes on where the server is.
///
///     let upload = ResumableUpload(of: video, with: AddVideo().on(shop), by: .tus)
///     try await upload.run()
///
/// The task describes the request that begins the upload: its URL, header and preflight, and the body that some protocols take there. Each
/// request after it has the same server, header, preflight and settings, and goes to the place that the server has named. It is a call of
/// its own, built and signed anew.
///
/// What the server has is asked for after each failure, and it counts. A failed request is followed by another one as the task's
/// ``RetryPolicy`` says; what it brought makes the next failure the first one again. An upload that the server does not know any more is
/// begun again.
///
/// A journal beside the file, for this user alone, names the place of the upload; a later upload of the same file to the same URL
/// goes on with it. A file that was changed meanwhile is sent anew, and one that is changed while it is sent fails the run.
///
/// Bytes that are no file are requested as they are needed: ``init(named:length:with:by:chunkSize:type:bytes:)``.
public final class ResumableUpload: Sendable {
  /// Gives the bytes of an upload from a position on: as many as are requested, or fewer, and these are the last.
  ///
  /// The same position may be asked for again, where the server has not taken what was sent. At the deadline it is cancelled, and waited for.
  public typealias Bytes = @Sendable (_ offset: Int64, _ count: Int) async throws -> Data

  /// What is to be sent, and how.
  struct Job: Sendable {
    let content: UploadContent
    /// The name of the file, or of the bytes.
    let name: String
    /// The length that is known beforehand, of bytes that are given.
    let length: Int64?
    let dialect: any UploadDialect
    let chunkSize: Int64
    let type: MediaType
    /// What tells it from others of the same bytes to the same URL, as its owner has stated; nil for nothing.
    var owner: String?

    /// The identity of the upload at a URL: of the same bytes as another thing, it is another upload.
    func identity(at url: URL) -> String {
      let told = dialect.metadata.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
      return TransferIdentity.of(name: "\([TransferIdentity.of(url), owner ?? "", type.rawValue] + told)")
    }
  }

  /// The file; nil where the bytes are given.
  public let file: URL?
  private let makePlan: @Sendable () -> TaskPlan
  private let job: Job
  /// The place of the journal, and the memory of an upload without one.
  private let journal: URL?
  private let memory = UploadMemory()
  /// The place that the server has named last.
  private let named = Lock<URL?>(nil)
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
  ///   - identity: What tells the upload from others of the same file to the same URL, as where several accounts have them: one never goes
  ///     on with what another has begun.
  public init(
    of file: URL, with task: some ServerTask, by dialect: some UploadDialect,
    chunkSize: Int = 8 << 20,
    type: MediaType? = nil, journalIn folder: URL? = nil, identity: String? = nil
  ) {
    self.file = file
    let type = type ?? MediaType(fileExtension: file.pathExtension) ?? .octetStream
    job = Job(
      content: .file(file), name: file.lastPathComponent, length: nil, dialect: dialect,
      chunkSize: Int64(max(1, chunkSize)), type: type, owner: identity)
    journal = folder.map { $0.appendingPathComponent(file.lastPathComponent) } ?? file
    makePlan = { task.plan }
    desk = TransferDesk(file.path)
  }

  /// An upload of bytes that a closure gives piece by piece, of a length that need not be known.
  ///
  ///     let upload = ResumableUpload(named: "log.txt", with: AddLog().on(shop), by: .google) { offset, count in
  ///       try await log.bytes(from: offset, atMost: count)
  ///     }
  ///
  /// A piece is in memory while it is sent. What the server has is known to this value, for its next run; not to the next run of the
  /// program.
  ///
  /// - Parameters:
  ///   - name: The name of the file that the server makes of it.
  ///   - length: The length, where it is known; nil has the server told at the end.
  ///   - task: The task whose URL takes the upload.
  ///   - dialect: The protocol that the server speaks.
  ///   - chunkSize: The size of a piece in bytes; 64 MiB at most.
  ///   - type: The media type; by the extension of the name unless given.
  ///   - bytes: Gives the bytes; what it throws ends the run.
  public init(
    named name: String, length: Int64? = nil, with task: some ServerTask, by dialect: some UploadDialect,
    chunkSize: Int = 8 << 20, type: MediaType? = nil, bytes: @escaping Bytes
  ) {
    file = nil
    let fileExtension = name.split(separator: ".").last.map(String.init) ?? ""
    job = Job(
      content: .given(bytes), name: name, length: length.map { max(0, $0) }, dialect: dialect,
      chunkSize: min(Int64(max(1, chunkSize)), UploadContent.largestGivenPiece),
      type: type ?? MediaType(fileExtension: fileExtension) ?? .octetStream)
    journal = nil
    makePlan = { task.plan }
    desk = TransferDesk(name)
  }

  /// Runs the upload until the server has all of the file; what it has already is not sent again.
  ///
  /// Cancelling the surrounding task ends it, as ``cancel()`` does. Whatever fails leaves what the server has to the next run.
  ///
  /// - Returns: The last answer of the server, with its body.
  /// - Throws: ``TaskError``: the last request's, `.unreadableBody` where the bytes cannot be read or were changed, `.transferInUse` while it
  ///   runs already. What a hook throws, and the closure that gives bytes. `CancellationError` when it was cancelled.
  @discardableResult
  public func run() async throws -> TaskResponse<Data> {
    try await desk.run(makePlan()) { [self] in
      if let file { _ = try FileStamp(of: file) }  // first, because the journal of a file of /proc can't be written
      return try await withRun { try await $0.run() }
    }
  }

  /// Pauses the upload: the request under way ends, but for one that may not be sent twice.
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

  /// Has the server forget an upload that does not run, and forgets it here; where the server cannot be asked, it is kept for another try.
  /// Throws ``TaskError`` with code `.transferInUse` while it runs, or that of the request; one of 405 or 501 says that the server never forgets
  /// an upload, which is forgotten here then. So is one that the server may have whole, and refuses to forget, as with 403.
  public func discard() async throws { try await withRun { try await $0.discard() } }

  /// The place that the server has named for the upload; nil until a run, or ``discard()``, knows it.
  ///
  /// With tus the file stays there. With the other protocols the last answer says where it is. It may be a secret.
  public var location: URL? { named.withLock { $0 } }

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
    guard let journal else {
      try memory.take(job.name)
      defer { memory.release() }
      return try await body(try newRun(to: try await ServerSnapshot.url(of: makePlan()), .memory(memory)))
    }
    // One for each place that the file goes to: the same file may go to two.
    let home = try await ServerSnapshot.url(of: makePlan())
    let target = job.identity(at: home)
    let name = SHA256.hexadecimal(of: "\(job.dialect.name) \(target) \(file?.path ?? "")").prefix(12)
    let place = try TransferPlace(journal, name: "\(name)")
    var made: [String] = []
    guard PartialFile.makeFolders(to: place.folder, &made) else { throw place.failure() }
    let lock = try LockedFile(place.path("lock"), of: file?.path ?? job.name)
    defer {
      place.remove("lock")
      lock.release()
    }
    return try await body(try newRun(to: home, .journal(place)))
  }

  private func newRun(to home: URL, _ keep: UploadKeep) throws -> UploadRun {
    try UploadRun(makePlan, to: home, job, keep, desk) { [self] url in named.withLock { $0 = url } }
  }
}
