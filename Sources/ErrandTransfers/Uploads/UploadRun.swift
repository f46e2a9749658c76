import Errand
import ErrandFoundation

/// A single run of an upload, from the server's position to the end. The server's position is always authoritative.
actor UploadRun {
  let makePlan: @Sendable () -> TaskPlan
  let job: ResumableUpload.Job
  let keep: UploadStateStore
  let coordinator: TransferCoordinator
  let server: Server
  let settings: ServerSnapshot
  var retry: TransferRetry
  var backoff = UploadBackoff()
  /// The file's stamp. `nil` if a closure provides the bytes.
  private let stamp: FileStamp?
  var length: Int64?
  /// The digest of the file, once it is known.
  private var foundDigest: Data?
  /// Whether the upload was started without sending the length.
  var isDeferred = false
  var session: UploadSession? {
    didSet { if let session { name(session.location) } }
  }
  private let name: @Sendable (URL) -> Void
  /// The task's URL, to which the starting request is sent.
  private var home: URL
  /// Whether the upload was started by an earlier run and has not been confirmed by the server yet.
  var isRestored = false
  /// The server's position. `nil` if it must be queried.
  var offset: Int64?
  var furthest: Int64 = 0
  /// The position after the last byte sent. `nil` if it is unknown because an earlier run started the upload.
  var sent: Int64?
  var hasSentLast = false
  /// Whether the server may have the entire content: the last chunk has been sent, and no later response rules this
  /// out. If the server no longer knows such an upload, the upload may be complete. It starts over only if the task
  /// allows it.
  var mayBeWhole = false
  /// Whether the last request failed before it was sent.
  private var isUnsent = false
  /// The response of a server that accepted the last chunk without confirming that it has the entire content.
  var taken: TaskResponse<Data>?
  /// The starting request's `Idempotency-Key`. Kept until the upload has started.
  private var key: String?
  /// The starting request's method, if the server may have received the request and it must not be resent.
  private var onceOnly: HTTPMethod?
  private var attempts = 0
  var hasGained = false
  /// Whether there has been progress since the last failure. If so, the next failure resets the retry count and does
  /// not use the retry budget.
  private var hasGainedSince = false
  var result: TaskResponse<Data>?
  /// The error that ends the run without a retry, because the server has, or may have, the entire content.
  var lastWord: TaskError?

  init(
    _ makePlan: @escaping @Sendable () -> TaskPlan, to home: URL, _ job: ResumableUpload.Job, _ keep: UploadStateStore,
    _ coordinator: TransferCoordinator, name: @escaping @Sendable (URL) -> Void
  ) throws {
    let plan = makePlan()
    self.makePlan = makePlan
    self.home = home
    self.job = job
    self.keep = keep
    self.coordinator = coordinator
    self.name = name
    server = plan.server
    settings = plan.settings
    retry = TransferRetry(plan)
    if case .file(let file) = job.content {
      stamp = try? FileStamp(of: file)
      length = stamp?.length
    } else {
      (stamp, length) = (nil, job.length)
    }
  }

  func run() async throws -> TaskResponse<Data> {
    if case .file(let file) = job.content, stamp == nil { _ = try FileStamp(of: file) }
    restore(stamp)
    while true {
      if let result {
        keep.forget()
        return result
      }
      try await next()
    }
  }

  private func next() async throws {
    try await retry.pass(coordinator)
    attempts += 1
    hasGained = false
    coordinator.note(.running(progress()))
    do {
      if let session {
        try await coordinator.attempt { try await self.step(session) }
      } else {
        try await begin()
      }
      if hasGained { retry.gained() }
      hasGainedSince = hasGainedSince || hasGained
    } catch is TransferCoordinator.PausedError {
      offset = nil
    } catch let error as TaskError {
      if let lastWord { throw lastWord }
      offset = nil
      retry.failed(error, hasGained: hasGained || hasGainedSince)
      hasGainedSince = false
      let url = error.url.flatMap { URL(string: $0) } ?? session?.location ?? settings.configuration.remote.url
      let request = HTTPRequest(.put, url ?? URL(fileURLWithPath: job.name), body: .text("0"))
      let delay = try await retry.delay(after: error, request, onceOnly: onceOnly)
      coordinator.note(.delayed(delay, error))
      try await server.manager.clock.sleep(for: delay)
    }
  }

  /// The request that starts the upload, with its idempotency key, if any.
  private var beginning: UploadRequest {
    var request = job.dialect.begin(UploadSource(fileName: job.name, length: length, type: job.type))
    if let key { request.headers[.idempotencyKey] = key }
    return request
  }

  /// Returns the task's idempotency key or a new one, or `nil` if the task does not use a key.
  private func drawnKey() -> String? {
    let plan = makePlan()
    if let own = plan.headers[.idempotencyKey] { return own }
    return plan.idempotency == .key ? server.manager.random.key() : nil
  }

  /// Sends one request: the next chunk, or a query for the position.
  private func step(_ session: UploadSession) async throws {
    try check()
    let place = try place(at: session.location)
    guard let offset else {
      let answer = try await send(job.dialect.query(session), at: place, .none)
      return try await follow(answer, after: nil)
    }
    let (piece, content) = try await piece(at: offset, of: session)
    let request = job.dialect.send(piece, of: session)
    hasSentLast = hasSentLast || piece.isLast
    let answer = try await ending(piece.isLast) {
      try await send(request, at: place, content)
    } isRefused: { [dialect = job.dialect] answer in
      // A response that requires a query is inconclusive. For example, an earlier request may still hold the lock.
      [.failed, .gone].contains(dialect.position(UploadAnswer(answer), after: piece))
    }
    try await follow(answer, after: piece)
  }

  /// Sends a request that completes the upload if `isEnd` is `true`. In that case, records that the server may have the
  /// entire content, unless the request was not sent or was rejected.
  private func ending(
    _ isEnd: Bool, _ send: () async throws -> TaskResponse<Data>, isRefused: (TaskResponse<Data>) -> Bool
  ) async throws -> TaskResponse<Data> {
    guard isEnd else { return try await send() }
    let before = mayBeWhole
    try keep.note(mayBeWhole: true)
    mayBeWhole = true
    do {
      let answer = try await send()
      // RFC 9110 §15.5.9: after a 408, the request may still have arrived.
      let isFinal = answer.status.kind == .clientError && answer.status.code != 408
      if !before, isFinal, isRefused(answer) { noteIncomplete() }
      return answer
    } catch {
      if !before, isUnsent { noteIncomplete() }
      throw error
    }
  }

  /// Records that the server does not have the entire content. If this can't be stored, a later run is more cautious.
  func noteIncomplete() {
    guard mayBeWhole else { return }
    mayBeWhole = false
    try? keep.note(mayBeWhole: false)
  }

  func check() throws {
    // If the file was deleted, a later read fails. The bytes read so far are valid.
    guard let stamp, case .file(let file) = job.content, let now = try? FileStamp(of: file), now != stamp else {
      return
    }
    throw UploadContent.unreadable(
      "\(file.path) changed during the upload: run the upload again to start over")
  }

  /// Returns the chunk at a position. If a closure returns fewer bytes than requested, the chunk is the last.
  private func piece(at offset: Int64, of session: UploadSession) async throws -> (UploadPiece, UploadPart.Content) {
    let slices = UploadSlices(length: length, chunkSize: job.chunkSize, session)
    var piece = slices.piece(at: offset)
    if case .given = job.content, slices.chunkSize > UploadContent.largestGivenPiece {
      throw UploadContent.unreadable(
        "the server requires chunks of at least \(slices.chunkSize) bytes, which is too large for memory: upload a file instead"
      )
    }
    let data = try await server.manager.clock.limiting(retry.remaining, .call, phase: .preparing) { [job, piece] in
      try await job.content.bytes(of: piece)
    }
    try Task.checkCancellation()  // a closure may stop early and return fewer bytes when it is cancelled
    if let data {
      let count = Int64(data.count)
      if count < piece.count {
        guard length == nil else {
          throw UploadContent.unreadable(
            "\(job.name) ended after \(offset + count) of \(slices.length ?? 0) bytes")
        }
        length = offset + count
        (piece.count, piece.isLast) = (count, true)
      }
      keep.note(given: offset + count)
    }
    sent = sent.map { max($0, offset + piece.count) }
    if isDeferred, piece.isLast { piece.foundLength = length }
    if let checksum = job.dialect.contentChecksum {
      if let data { keep.hash(data, at: offset, by: checksum) }
      if piece.isLast { piece.contentDigest = try await contentDigest(by: checksum, length: offset + piece.count) }
    }
    if let checksum = session.checksum { piece.digest = try await job.content.digest(of: piece, data, by: checksum) }
    if let data { return (piece, .bytes(data)) }
    guard case .file(let file) = job.content else { return (piece, .none) }
    return (piece, .piece(piece, of: file))
  }

  private func contentDigest(by checksum: UploadChecksum, length: Int64) async throws -> Data {
    if let digest = foundDigest ?? keep.contentDigest(by: checksum) { return digest }
    let digest = try await job.content.digest(from: 0, count: length, by: checksum)
    foundDigest = digest
    return digest
  }

  /// Updates the task's URL and asks for the server's features. Returns the checksum algorithm for the chunks.
  private func prepare() async throws -> UploadChecksum? {
    try check()
    home = try await ServerSnapshot.url(of: makePlan())  // the URL's signature may have expired
    guard let inquiry = job.dialect.inquiry() else { return nil }
    let answer = try await send(inquiry, at: nil, .none)
    return answer.status.kind == .success ? job.dialect.checksum(by: UploadAnswer(answer)) : nil
  }

  private func begin() async throws {
    onceOnly = nil
    let checksum = try await coordinator.attempt { try await self.prepare() }
    try coordinator.checkPause()
    key = key ?? drawnKey()
    let request = beginning
    // Outside an attempt: if a pause cancelled the request, the server could still create an upload.
    let answer = try await send(request, at: nil, request.content == .ofTask ? .own : .none, isStart: true)
    guard answer.status.kind == .success else {
      if answer.status.isRefusal, makePlan().idempotency != .neverRepeat, retry.mayRenew() { return }
      throw TaskError.refused(answer, settings)
    }
    var begun: UploadSession
    do {
      begun = try job.dialect.begun(UploadAnswer(answer))
      _ = try place(at: begun.location)  // check the location before storing it, because the dialect may not check it
    } catch let error as TaskError {
      throw TaskError.contradicted(error.reason, answer, settings)
    }
    begun.checksum = checksum
    isDeferred = length == nil
    try keep.remember(begun, for: job.dialect, stamp, job.identity(at: home), isDeferred: isDeferred)
    (session, isRestored, sent, hasSentLast, mayBeWhole, taken) = (begun, false, 0, false, false, nil)
    (key, onceOnly) = (nil, nil)
    try await reach(0, answer, after: nil)
  }

  /// Returns an upload's validated location. Throws `TaskError` with code `.badResponse` if requests must not be sent
  /// there.
  func place(at location: URL) throws(TaskError) -> LinkedURL {
    do {
      return try LinkedURL(location, from: [home])
    } catch {
      let shown = settings.configuration.redaction(location).shortened
      throw TaskError(
        .badResponse, "the server's upload location '\(shown)' was rejected: \(error.reason)",
        phase: .finishing)
    }
  }

  /// Returns the location of a request that goes to `place`, or to the task's URL if `place` is `nil`, unless the request
  /// has its own URL or query.
  private func place(of request: UploadRequest, at place: LinkedURL?) throws -> LinkedURL? {
    guard request.url != nil || !request.query.isEmpty else { return place }
    let url = try request.url.map { try self.place(at: $0).url } ?? place?.url ?? home
    return try self.place(at: settings.adding(request.query, to: url))
  }

  private func send(
    _ request: UploadRequest, at place: LinkedURL?, _ content: UploadPart.Content, isStart: Bool = false
  ) async throws -> TaskResponse<Data> {
    let place = try self.place(of: request, at: place)
    let target = place?.url ?? home
    // The task's headers and credentials must be sent only to its own origin and to trusted origins.
    let isTrusted = Origin(target) == Origin(home) || settings.isTrusted(target)
    let part = UploadPart(makePlan(), request, to: home, at: place, content, isTrusted: isTrusted)
    isUnsent = true  // an error before the call is created means that nothing was sent
    var plan = part.plan(request.method, deadline: try retry.time())
    plan.transfer = coordinator.number
    plan.isRepetition = retry.hasFailed
    plan.progress = content.isChunk ? reporter(plan.progress) : nil
    let call = Call(plan, .memory)
    defer { if isStart { onceOnly = call.methodSentOnce } }
    do {
      return try await Self.perform(call)
    } catch {
      let failure = error as? TaskError
      // Also `true` if a hook or a step threw before the transport received the chunk.
      isUnsent = failure?.wasNotSent == true || (content.isChunk && call.methodSentOnce == nil)
      if failure?.code == .bodyLengthMismatch { try check() }  // the file may have been truncated while it was sent
      throw error
    }
  }

  @concurrent private static func perform(_ call: Call) async throws -> TaskResponse<Data> {
    try await call.perform { TaskResponse($0.data, $0) }
  }

  /// Returns a closure that reports the progress of the entire upload while a chunk is being sent.
  private func reporter(_ own: (@Sendable (TransferProgress) -> Void)?) -> @Sendable (TransferProgress) -> Void {
    let (coordinator, before) = (coordinator, progress())
    return { reported in
      guard reported.direction == .up else { return }
      let progress = before.adding(reported)
      own?(progress)
      coordinator.note(.running(progress))
    }
  }

  func progress(isFinished: Bool = false) -> TransferProgress {
    TransferProgress(
      direction: .up, attempt: attempts, completed: min(offset ?? furthest, length ?? .max), total: length, rate: nil,
      isFinished: isFinished)
  }
}

// MARK: - Persistence

extension UploadRun {
  /// Restores the upload of an earlier run if its content and its target are the same.
  private func restore(_ stamp: FileStamp?) {
    sent = keep.given
    guard let restored = keep.restored(for: job.dialect, stamp, job.identity(at: home)) else { return }
    (session, isDeferred, mayBeWhole, isRestored) = (restored.session, restored.isDeferred, restored.mayBeWhole, true)
  }

  /// Deletes the partial upload on the server. If the request fails, keeps the journal so that you can try again.
  func discard() async throws {
    restore(nil)
    // Nothing was sent to an invalid location, so there is nothing to delete.
    if let session, let request = job.dialect.cancel(session), let place = try? place(at: session.location) {
      let answer = try await send(request, at: place, .none)
      guard answer.status.kind == .success || answer.status == .notFound || answer.status == 410 else {
        // RFC 9110 §15.5.6 and §15.6.2: a retry would not help. The same applies if the server permanently refuses to
        // delete a complete upload.
        let isForGood = mayBeWhole && UploadAnswer(answer).isFinal && ![401, 409, 423].contains(answer.status.code)
        if [405, 501].contains(answer.status.code) || isForGood { keep.forget() }
        throw TaskError.refused(answer, settings)
      }
    }
    keep.forget()
  }
}
