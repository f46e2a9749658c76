public import Errand
public import ErrandFoundation

/// A chunked upload that survives lost connections, pauses and crashes, and continues after the last byte stored by the
/// server.
///
///     let upload = ResumableUpload(of: video, with: AddVideo().on(shop), by: .tus)
///     try await upload.run()
///
/// The task describes the request that starts the upload: its URL, headers and preflight, and its body if the protocol
/// sends one. Later requests go to the location returned by the server, with the task's server, headers, preflight and
/// settings. The task's headers, credentials and preflight are used only for the origins of the task's URL and its
/// server. Each request is a separate call, which is built and signed again.
///
/// After each failure, the upload asks the server for its position and continues there. Retries follow the task's
/// `RetryPolicy`, and progress resets the retry count. If the server no longer knows the upload, the upload starts
/// over, unless the task is `.neverRepeat`.
///
/// The request that starts the upload is retried only if the task's `idempotency` allows it or the request was not
/// sent.
///
/// A journal next to the file records the upload's location. Only the current user can access the journal. A later
/// upload of the same file to the same URL continues where this one stopped. If the file has changed since, the upload
/// starts over. If the file changes during a run, the run fails.
///
/// To upload data that is not in a file, use ``init(named:length:with:by:chunkSize:type:bytes:)``.
public final class ResumableUpload: Sendable {
  /// Returns `count` bytes of the content, starting at `offset`, or fewer bytes at the end.
  ///
  /// An offset can be requested again if the server did not store the bytes. The closure is cancelled by a pause and at
  /// the deadline. The upload waits until a cancelled closure returns and ignores its bytes.
  public typealias Bytes = @Sendable (_ offset: Int64, _ count: Int) async throws -> Data

  struct Job: Sendable {
    let content: UploadContent
    let name: String
    /// The length of data from a closure, if known in advance.
    let length: Int64?
    let dialect: any UploadDialect
    let chunkSize: Int64
    let type: MediaType
    /// The identity set by the app, which distinguishes uploads of the same file to the same URL. `nil` if not set.
    var owner: String?

    /// Returns the upload's identity at a URL. It includes the metadata, so that a change in the metadata starts a new
    /// upload.
    func identity(at url: URL) -> String {
      let metadata = dialect.metadata.sorted { $0.key < $1.key }.flatMap { [$0.key, $0.value] }
      return TransferIdentity.of(name: "\([TransferIdentity.of(url), owner ?? "", type.rawValue] + metadata)")
    }
  }

  /// The file. `nil` if a closure provides the bytes.
  public let file: URL?
  private let makePlan: @Sendable () -> TaskPlan
  private let job: Job
  /// The file that the journal is stored next to. If it is `nil`, `memory` holds the state.
  private let journal: URL?
  private let memory = UploadMemory()
  /// The location most recently returned by the server.
  private let named = Lock<URL?>(nil)
  private let coordinator: TransferCoordinator

  /// Creates an upload of a file without starting it.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - task: The task whose URL accepts the upload.
  ///   - dialect: The protocol that the server supports.
  ///   - chunkSize: The size of a chunk in bytes. Defaults to 8 MiB. `.max` sends everything in one request. A rest of
  ///     less than 2,500 bytes is sent with the last chunk.
  ///   - type: The file's media type. Defaults to the media type for the file's extension.
  ///   - folder: The journal's folder. Defaults to the file's folder.
  ///   - identity: Distinguishes uploads of the same file to the same URL, for example by different accounts. An upload
  ///     never continues one with a different identity.
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
    coordinator = TransferCoordinator(file.path)
  }

  /// Creates an upload of bytes that a closure provides chunk by chunk. The total length need not be known.
  ///
  ///     let upload = ResumableUpload(named: "log.txt", with: AddLog().on(shop), by: .google) { offset, count in
  ///       try await log.bytes(from: offset, atMost: count)
  ///     }
  ///
  /// Each chunk is held in memory while it is sent. Running this instance again continues the upload. After a relaunch
  /// of the program, the upload starts over.
  ///
  /// - Parameters:
  ///   - name: The file name sent to the server.
  ///   - length: The total length in bytes. If it is `nil`, the server receives the length with the last chunk.
  ///   - task: The task whose URL accepts the upload.
  ///   - dialect: The protocol that the server supports.
  ///   - chunkSize: The size of a chunk in bytes. Defaults to 8 MiB. The maximum is 64 MiB.
  ///   - type: The media type. Defaults to the media type for the extension of `name`.
  ///   - bytes: Returns the bytes. An error thrown by the closure ends the run.
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
    coordinator = TransferCoordinator(name)
  }

  /// Runs the upload until the server has the entire content. Bytes that the server already has are not resent.
  ///
  /// Cancelling the surrounding Swift task stops the upload, like ``cancel()``. After a failure, the next run continues
  /// at the server's position.
  ///
  /// - Returns: The server's last response, with its body.
  /// - Throws: The `TaskError` of the last request, or `TaskError` with code `.unreadableBody` if the bytes can't
  ///   be read or have changed, or `.transferInUse` if the upload is already running. Also throws any error thrown by a
  ///   hook or by the closure that provides the bytes, and `CancellationError` if cancelled.
  @discardableResult
  public func run() async throws -> TaskResponse<Data> {
    try await coordinator.run(makePlan()) { [self] in
      if let file { _ = try FileStamp(of: file) }  // first, because a file in /proc can't have a journal
      return try await withRun { try await $0.run() }
    }
  }

  /// Pauses the upload. The current request is cancelled, unless it starts the upload.
  ///
  /// - Returns: Whether the upload was paused. `false` if it was already paused.
  @discardableResult
  public func pause() -> Bool { coordinator.pause() }

  /// Resumes a paused upload at the server's position.
  ///
  /// - Returns: Whether the upload was resumed. `false` if it was not paused.
  @discardableResult
  public func resume() -> Bool { coordinator.resume() }

  /// Ends the run with `CancellationError`. The server keeps the bytes it has received.
  public func cancel() { coordinator.cancel() }

  /// Deletes the partial upload on the server, and its local state. If the request fails, the local state is kept so
  /// that you can try again. Throws `TaskError` with code `.transferInUse` if the upload is running, or the error of
  /// the failed request. A 405 or 501 means that the server does not support deleting uploads, so the local state is
  /// deleted anyway. The local state is also deleted if the server may have the entire content and refuses to delete
  /// it, for example with a 403.
  public func discard() async throws { try await withRun { try await $0.discard() } }

  /// The location that the server returned for the upload. `nil` until it is known from a run or ``discard()``.
  ///
  /// With tus, the uploaded file stays at this location. With other protocols, the last response contains its location.
  /// The location may be a secret.
  public var location: URL? { named.withLock { $0 } }

  /// The current state.
  public var state: TransferState { coordinator.transferState }

  /// The current state, followed by all later states until the run ends. If the last run has already ended, the
  /// sequence contains only the current state.
  ///
  /// Progress is reported at most 20 times a second. A slow reader receives only the latest state. Each access returns
  /// a new sequence.
  public var states: AsyncStream<TransferState> { coordinator.states() }

  /// Runs `body` with exclusive access to the upload's state.
  private func withRun<Value: Sendable>(_ body: (UploadRun) async throws -> Value) async throws
    -> Value
  {
    var plan = makePlan()
    plan.keepSettings()
    guard let journal else {
      try memory.take(job.name)
      defer { memory.release() }
      return try await body(try newRun(plan, to: try await ServerSnapshot.url(of: plan), .memory(memory)))
    }
    // Use one journal per target, because the same file can be uploaded to several targets.
    let home = try await ServerSnapshot.url(of: plan)
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
    return try await body(try newRun(plan, to: home, .journal(place)))
  }

  private func newRun(_ plan: TaskPlan, to home: URL, _ keep: UploadStateStore) throws -> UploadRun {
    try UploadRun(plan.passingSettings(to: makePlan), to: home, job, keep, coordinator) { [self] url in
      named.withLock { $0 = url }
    }
  }
}
