import ErrandFoundation

/// One run of an upload, from where the server is to its end. The server's position counts, whatever was sent.
actor UploadRun {
  /// The most times in a row, without a byte gained, that an upload is begun again, or an answer that says nothing is followed by a query.
  private static let mostDetours = 3

  private let makePlan: @Sendable () -> TaskPlan
  private let file: URL
  private let dialect: any UploadDialect
  private let chunkSize: Int64
  private let type: MediaType
  private let place: TransferPlace
  private let desk: TransferDesk
  private let server: Server
  private var retry: TransferRetry
  private var stamp: FileStamp
  private var session: UploadSession?
  /// The position of the server; nil where it is to be asked.
  private var offset: Int64?
  private var furthest: Int64 = 0
  private var attempts = 0
  private var detours = 0
  private var hasGained = false
  private var result: TaskResponse<Data>?

  init(
    _ makePlan: @escaping @Sendable () -> TaskPlan, _ file: URL, _ dialect: any UploadDialect,
    chunkSize: Int64,
    type: MediaType, _ place: TransferPlace, _ desk: TransferDesk
  ) throws {
    let plan = makePlan()
    self.makePlan = makePlan
    self.file = file
    self.dialect = dialect
    self.chunkSize = chunkSize
    self.type = type
    self.place = place
    self.desk = desk
    server = plan.server
    retry = TransferRetry(plan)
    stamp = try FileStamp(of: file)
  }

  /// Runs until the server has all; returns its last answer.
  func run() async throws -> TaskResponse<Data> {
    try await restore()
    while true {
      if let result {
        place.remove("upload")
        return result
      }
      try await next()
    }
  }

  /// Goes on with what an earlier run has begun, where the file and the place are the same.
  private func restore() async throws {
    guard let data = place.read("upload"),
      let journal = try? JSONDecoder().decode(UploadJournal.self, from: data),
      journal.format == UploadJournal.format, journal.dialect == dialect.name,
      journal.stamp == stamp,
      journal.identity == TransferIdentity.of(try await ServerSnapshot.url(of: makePlan()))
    else { return }
    session = journal.session
  }

  private func next() async throws {
    try await desk.pass()
    attempts += 1
    hasGained = false
    desk.note(.running(progress(0, rate: nil)))
    do {
      try await desk.attempt { try await self.step() }
      if hasGained { retry.gained() }
    } catch is TransferDesk.Held {
      offset = nil
    } catch let error as TaskError {
      offset = nil
      retry.failed(error, hasGained: hasGained)
      let url = error.url.flatMap { URL(string: $0) } ?? session?.location ?? file
      let delay = try await retry.delay(after: error, HTTPRequest(.put, url, body: .text("0")))
      desk.note(.delayed(delay, error))
      try await server.manager.clock.sleep(for: delay)
    }
  }

  /// Sends one request: the next piece, or what has to come before it.
  private func step() async throws {
    guard try FileStamp(of: file) == stamp else {
      throw TaskError(
        .unreadableBody,
        "\(file.path) was changed while it was sent: run the upload again, which begins anew",
        phase: .preparing)
    }
    guard let session else { return try await begin() }
    guard let offset else {
      let answer = try await send(dialect.query(session), to: session.location, .none)
      return try await follow(answer, after: nil)
    }
    let slices = UploadSlices(
      length: stamp.length, chunkSize: chunkSize, granularity: session.granularity)
    let piece = slices.piece(at: offset)
    let answer = try await send(
      dialect.send(piece, of: session), to: session.location, .piece(piece, of: file))
    try await follow(answer, after: piece)
  }

  private func begin() async throws {
    let url = try await ServerSnapshot.url(of: makePlan())
    let source = UploadSource(fileName: file.lastPathComponent, length: stamp.length, type: type)
    let answer = try await send(dialect.begin(source), to: url, .own)
    guard answer.status.kind == .success else {
      if answer.status == .unauthorized || answer.status == .forbidden, retry.mayRenew() { return }
      throw refusal(answer)
    }
    let begun = try dialect.begun(
      UploadAnswer(answer.status, headers: answer.headers, url: answer.response.url))
    let journal = UploadJournal(
      dialect: dialect.name, identity: TransferIdentity.of(url), stamp: stamp, session: begun)
    try place.write(try JSONEncoder().encode(journal), to: "upload")
    place.syncFolder()
    session = begun
    furthest = 0
    try await reach(0, answer)
  }

  private func send(_ request: UploadRequest, to url: URL, _ content: UploadPart.Content)
    async throws
    -> TaskResponse<Data>
  {
    let part = UploadPart(makePlan(), request, to: url, content)
    var plan = part.plan(request.method, deadline: retry.remaining)
    if case .piece = content {
      plan.progress = { [weak self] told in
        guard let self, told.direction == .up else { return }
        Task { await self.tell(told) }
      }
    }
    return try await Call.perform(plan, .memory) { TaskResponse($0.data, $0) }
  }

  private func tell(_ told: TransferProgress) {
    if offset != nil { desk.note(.running(progress(told.completed, rate: told.rate))) }
  }

  private func progress(_ sent: Int64, rate: Double?, isFinished: Bool = false) -> TransferProgress {
    TransferProgress(
      direction: .up, attempt: attempts, completed: min((offset ?? furthest) + sent, stamp.length),
      total: stamp.length, rate: rate, isFinished: isFinished)
  }

  /// Does what an answer says.
  private func follow(_ answer: TaskResponse<Data>, after piece: UploadPiece?) async throws {
    let said = UploadAnswer(answer.status, headers: answer.headers, url: answer.response.url)
    switch dialect.position(said, after: piece) {
    case .at(let position): try await reach(position, answer)
    case .finished: finish(answer)
    case .unknown:
      offset = nil
      try detour(answer)
    case .gone:
      (session, offset) = (nil, nil)
      place.remove("upload")
      try detour(answer)
    case .failed:
      let isRefused = answer.status == .unauthorized || answer.status == .forbidden
      guard isRefused, retry.mayRenew() else { throw refusal(answer) }
      offset = nil
    }
  }

  private func reach(_ position: Int64, _ answer: TaskResponse<Data>) async throws {
    guard position >= 0, position <= stamp.length else {
      throw TaskError(
        .badResponse, "the server has \(position) bytes of a file of \(stamp.length)",
        phase: .finishing)
    }
    if position > furthest {
      (furthest, hasGained, detours) = (position, true, 0)
    } else if let offset, position <= offset, stamp.length > 0, offset > 0 || position < offset {
      try detour(answer)  // a piece was taken, and nothing of it is there
    }
    offset = position
    if position == stamp.length, dialect.endsWithLastByte { finish(answer) }
  }

  private func finish(_ answer: TaskResponse<Data>) {
    result = answer
    offset = stamp.length
    desk.note(.running(progress(0, rate: nil, isFinished: true)))
  }

  /// Counts what does not bring the upload on, and fails it where that does not end.
  private func detour(_ answer: TaskResponse<Data>) throws {
    detours += 1
    guard detours > Self.mostDetours else { return }
    throw refusal(answer)
  }

  private func refusal(_ answer: TaskResponse<Data>) -> TaskError {
    let configuration = server.configuration
    let summary = configuration.redaction.summary(of: answer.data, type: answer.response.mediaType)
    var error = TaskError.badStatus(
      answer.response, redaction: configuration.redaction, summary: summary
    )
    .with(answer.response, answer.data, configuration)
    error.url = configuration.redaction(answer.response.url)
    error.record = answer.record
    return error
  }

  /// Has the server forget what was begun.
  func discard() async throws {
    try await restore()
    defer { place.remove("upload") }
    guard let session, let request = dialect.cancel(session) else { return }
    _ = try await send(request, to: session.location, .none)
  }
}
