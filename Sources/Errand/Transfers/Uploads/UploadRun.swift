import ErrandFoundation

/// One run of an upload, from where the server is to its end. The server's position counts, whatever was sent.
actor UploadRun {
  let makePlan: @Sendable () -> TaskPlan
  let job: ResumableUpload.Job
  let keep: UploadKeep
  let desk: TransferDesk
  let server: Server
  var retry: TransferRetry
  var standstill = UploadStandstill()
  /// The stamp of the file; nil where the bytes are given.
  private let stamp: FileStamp?
  /// The length of the whole; nil until it is known.
  var length: Int64?
  /// True where the server was not told the length when the upload began.
  var isDeferred = false
  var session: UploadSession? {
    didSet { if let session { name(session.location) } }
  }
  /// Is told where the upload is.
  private let name: @Sendable (URL) -> Void
  /// The URL of the task, where the upload begins.
  private var home: URL
  /// True where an earlier run has begun the upload, and nothing is known of it yet.
  var isRestored = false
  /// The position of the server; nil where it is to be asked.
  var offset: Int64?
  var furthest: Int64 = 0
  /// The position behind the last byte that was sent; nil where an earlier run has begun the upload, so that it is not known.
  var sent: Int64?
  /// True once a piece was sent that is the last.
  var hasSentLast = false
  /// True where the server may have all: what ends the upload was sent, and the server has not said since that it has less. What is then
  /// gone there may have been taken: it is not begun again, unless the task allows that.
  var mayBeWhole = false
  /// True where nothing of the last request that failed has reached the server.
  private var isUnsent = false
  /// The answer of a server that took the last piece, and did not say that it has all.
  var taken: TaskResponse<Data>?
  /// The `Idempotency-Key` of the request that begins the upload, the same until that is answered.
  private var key: String?
  private var attempts = 0
  var hasGained = false
  /// True where something was gained since the last failure: the next one is then the first again, and costs no budget.
  private var hasGainedSince = false
  var result: TaskResponse<Data>?
  /// The error after which nothing is tried again: a server has all and refuses it, or may have all.
  var lastWord: TaskError?

  init(
    _ makePlan: @escaping @Sendable () -> TaskPlan, to home: URL, _ job: ResumableUpload.Job, _ keep: UploadKeep,
    _ desk: TransferDesk, name: @escaping @Sendable (URL) -> Void
  ) throws {
    let plan = makePlan()
    self.makePlan = makePlan
    self.home = home
    self.job = job
    self.keep = keep
    self.desk = desk
    self.name = name
    server = plan.server
    retry = TransferRetry(plan)
    if case .file(let file) = job.content {
      stamp = try? FileStamp(of: file)
      length = stamp?.length
    } else {
      (stamp, length) = (nil, job.length)
    }
  }

  /// Runs until the server has all; returns its last answer.
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
    try await retry.pass(desk)
    attempts += 1
    hasGained = false
    desk.note(.running(progress()))
    do {
      // A pause does not cut what might then have to be sent twice.
      if beginsWhole { try await step() } else { try await desk.attempt { try await self.step() } }
      if hasGained { retry.gained() }
      hasGainedSince = hasGainedSince || hasGained
    } catch is TransferDesk.Held {
      offset = nil
    } catch let error as TaskError {
      if let lastWord { throw lastWord }
      offset = nil
      retry.failed(error, hasGained: hasGained || hasGainedSince)
      hasGainedSince = false
      let url = error.url.flatMap { URL(string: $0) } ?? session?.location ?? server.configuration.remote.url
      let request = HTTPRequest(.put, url ?? URL(fileURLWithPath: job.name), body: .text("0"))
      let delay = try await retry.delay(after: error, request, onceOnly: onceOnly)
      desk.note(.delayed(delay, error))
      try await server.manager.clock.sleep(for: delay)
    }
  }

  /// True where the next request begins the upload and, as there are no bytes, is the whole of it.
  private var beginsWhole: Bool { session == nil && length == 0 && job.dialect.endsWithLastByte }

  /// The request that begins the upload, with its key where that is drawn.
  private var beginning: UploadRequest {
    var request = job.dialect.begin(UploadSource(fileName: job.name, length: length, type: job.type))
    if let key { request.headers[.idempotencyKey] = key }
    return request
  }

  /// A key for the request that begins the upload, where the task has one.
  private func drawnKey() -> String? {
    let plan = makePlan()
    if let own = plan.headers[.idempotencyKey] { return own }
    return plan.idempotency == .key ? server.manager.random.key() : nil
  }

  /// The method of the request that begins the upload, where it was perhaps read and may not be sent twice; nil where it may.
  private var onceOnly: HTTPMethod? {
    guard session == nil, mayBeWhole else { return nil }
    let request = beginning
    return makePlan().idempotency.allowsRepetition(of: request.method, request.headers) ? nil : request.method
  }

  /// Sends one request: the next piece, or what has to come before it.
  private func step() async throws {
    try check()
    guard let session else { return try await begin() }
    let place = try place(of: session)
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
      // One that asks for a query, as where an earlier request still has the upload, tells nothing.
      [.failed, .gone].contains(dialect.position(UploadAnswer(answer), after: piece))
    }
    try await follow(answer, after: piece)
  }

  /// Sends what may end the upload: the server may have all from then on, unless it saw nothing of that or refuses it.
  private func ending(
    _ isEnd: Bool, _ send: () async throws -> TaskResponse<Data>,
    isRefused: (TaskResponse<Data>) -> Bool = { _ in true }
  ) async throws -> TaskResponse<Data> {
    guard isEnd else { return try await send() }
    let before = mayBeWhole
    try keep.note(mayBeWhole: true)
    mayBeWhole = true
    do {
      let answer = try await send()
      // RFC 9110 §15.5.9: one that was waited for may have come after all.
      let isFinal = answer.status.kind == .clientError && answer.status.code != 408
      if !before, isFinal, isRefused(answer) { noteIncomplete() }
      return answer
    } catch {
      if !before, isUnsent { noteIncomplete() }
      throw error
    }
  }

  /// Notes that the server does not have all. Where the note cannot be kept a later run is more careful.
  func noteIncomplete() {
    guard mayBeWhole else { return }
    mayBeWhole = false
    try? keep.note(mayBeWhole: false)
  }

  /// Throws where the file is another one than at the beginning.
  func check() throws {
    // One that is gone is found out where it is read: what was read of it before is right.
    guard let stamp, case .file(let file) = job.content, let now = try? FileStamp(of: file), now != stamp else {
      return
    }
    throw UploadContent.unreadable(
      "\(file.path) was changed while it was sent: run the upload again, which begins anew")
  }

  /// The piece at a position. Where bytes are given, fewer than were asked for are the last.
  private func piece(at offset: Int64, of session: UploadSession) async throws -> (UploadPiece, UploadPart.Content) {
    let slices = UploadSlices(length: length, chunkSize: job.chunkSize, session)
    var piece = slices.piece(at: offset)
    if case .given = job.content, slices.chunkSize > UploadContent.largestGivenPiece {
      throw UploadContent.unreadable(
        "the server takes pieces of \(slices.chunkSize) bytes at least, more than is held in memory: upload a file")
    }
    let data = try await server.manager.clock.limiting(retry.remaining, .call, phase: .preparing) { [job, piece] in
      try await job.content.bytes(of: piece)
    }
    if let data {
      let count = Int64(data.count)
      if count < piece.count {
        guard length == nil else {
          throw UploadContent.unreadable(
            "the bytes of \(job.name) end at \(offset + count), not at \(slices.length ?? 0)")
        }
        length = offset + count
        (piece.count, piece.isLast) = (count, true)
      }
      keep.note(given: offset + count)
    }
    sent = sent.map { max($0, offset + piece.count) }
    if isDeferred, piece.isLast { piece.foundLength = length }
    if let checksum = session.checksum { piece.digest = try await job.content.digest(of: piece, data, by: checksum) }
    if let data { return (piece, .bytes(data)) }
    guard case .file(let file) = job.content else { return (piece, .none) }
    return (piece, .piece(piece, of: file))
  }

  private func begin() async throws {
    home = try await ServerSnapshot.url(of: makePlan())  // its signature may have expired
    var checksum: UploadChecksum?
    if let inquiry = job.dialect.inquiry() {
      let answer = try await send(inquiry, at: nil, .none)
      if answer.status.kind == .success { checksum = job.dialect.checksum(by: UploadAnswer(answer)) }
    }
    key = key ?? drawnKey()
    let request = beginning
    let answer = try await ending(beginsWhole) {
      try await send(request, at: nil, request.content == .ofTask ? .own : .none)
    }
    guard answer.status.kind == .success else {
      if answer.status.isRefusal, retry.mayRenew() { return }
      throw TaskError.refused(answer, server)
    }
    var begun: UploadSession
    do {
      begun = try job.dialect.begun(UploadAnswer(answer))
      _ = try place(of: begun)  // whatever the dialect: before the place is kept
    } catch let error as TaskError {
      throw TaskError.contradicted(error.reason, answer, server)
    }
    begun.checksum = checksum
    isDeferred = length == nil
    try keep.remember(begun, for: job.dialect, stamp, job.identity(at: home), isDeferred: isDeferred)
    (session, isRestored, sent, hasSentLast, mayBeWhole, taken, key) = (begun, false, 0, false, false, nil, nil)
    try await reach(0, answer, after: nil)
  }

  /// The place of an upload, checked.
  /// Throws ``TaskError`` with code `.badResponse` if nothing may be sent there.
  private func place(of session: UploadSession) throws -> LinkedURL {
    do {
      return try LinkedURL(session.location, from: [home])
    } catch {
      let shown = server.configuration.redaction(session.location).shortened
      throw TaskError(
        .badResponse, "the upload is not sent to '\(shown)', as the server asks: \(error.reason)",
        phase: .finishing)
    }
  }

  /// Sends a request to a place that the server has named, or to the URL of the task.
  private func send(
    _ request: UploadRequest, at place: LinkedURL?, _ content: UploadPart.Content
  ) async throws -> TaskResponse<Data> {
    let target = place?.url ?? home
    // What the task sends, its credentials included, is for the origin that it names.
    let isHome = Origin(target) == Origin(home) || server.snapshot.isHome(target)
    let part = UploadPart(makePlan(), request, to: home, at: place, content, isHome: isHome)
    isUnsent = true  // until there is a call
    var plan = part.plan(request.method, deadline: try retry.time())
    plan.transfer = desk.number
    plan.isRepetition = retry.hasFailed
    plan.progress = content.isChunk ? teller(plan.progress) : nil
    let call = Call(plan, .memory)
    do {
      return try await Self.perform(call)
    } catch {
      let failure = error as? TaskError
      // The transport was never given it, whatever a hook or a step threw.
      isUnsent = failure?.isSurelyNotSent == true || (content.isChunk && !call.state.withLock { $0.hasSentOnceOnly })
      if failure?.code == .bodyLengthMismatch { try check() }  // the file was cut meanwhile
      throw error
    }
  }

  @concurrent private static func perform(_ call: Call) async throws -> TaskResponse<Data> {
    try await call.perform { TaskResponse($0.data, $0) }
  }

  /// Tells the desk and the task how far the whole is, while a piece goes up.
  private func teller(_ own: (@Sendable (TransferProgress) -> Void)?) -> @Sendable (TransferProgress) -> Void {
    let (desk, before) = (desk, progress())
    return { told in
      guard told.direction == .up else { return }
      let progress = before.adding(told)
      own?(progress)
      desk.note(.running(progress))
    }
  }

  func progress(isFinished: Bool = false) -> TransferProgress {
    TransferProgress(
      direction: .up, attempt: attempts, completed: min(offset ?? furthest, length ?? .max), total: length, rate: nil,
      isFinished: isFinished)
  }
}

// MARK: - What is kept

extension UploadRun {
  /// Goes on with what an earlier run has begun, where it is of the same bytes and goes to the same place.
  private func restore(_ stamp: FileStamp?) {
    sent = keep.given
    guard let restored = keep.restored(for: job.dialect, stamp, job.identity(at: home)) else { return }
    (session, isDeferred, mayBeWhole, isRestored) = (restored.session, restored.isDeferred, restored.mayBeWhole, true)
  }

  /// Has the server forget what was begun. Where it cannot be asked, it is kept, for another try.
  func discard() async throws {
    restore(nil)
    // Nothing was sent to a place that is refused, so there is nothing to cancel.
    if let session, let request = job.dialect.cancel(session), let place = try? place(of: session) {
      let answer = try await send(request, at: place, .none)
      guard answer.status.kind == .success || answer.status == .notFound || answer.status == 410 else {
        // RFC 9110 §15.5.6 and §15.6.2: it never will. Nor will one that refuses it for good, of what it may have whole.
        let isForGood = mayBeWhole && UploadAnswer(answer).isFinal && ![401, 409, 423].contains(answer.status.code)
        if [405, 501].contains(answer.status.code) || isForGood { keep.forget() }
        throw TaskError.refused(answer, server)
      }
    }
    keep.forget()
  }
}
