import ErrandFoundation

/// One run of a download, from what is there to its end: sends, writes, and does what ``DownloadStep`` decides.
actor DownloadRun {
  private let makePlan: @Sendable () -> TaskPlan
  let file: DownloadFile
  let desk: TransferDesk
  let aim: DownloadAim
  /// The identity that the owner has stated; nil where it is that of the URL.
  private let identity: String?
  let server: Server
  var retry: TransferRetry
  private var meter: TransferMeter
  var attempts = 0
  /// True once a response has said that what is there is of the present version.
  var isConfirmed = false
  /// True where the next attempt asks for the whole, whatever is there.
  var wantsWhole = false
  /// True where the file came, or is to come, as one in spite of what was asked for.
  var isOne = false
  /// The ranges that are being fetched.
  var crew = DownloadCrew()
  /// The bytes that the attempt has added, and whether it threw others away.
  private var hasGained = false

  init(
    _ makePlan: @escaping @Sendable () -> TaskPlan, _ file: sending DownloadFile, _ desk: TransferDesk,
    _ aim: DownloadAim
  ) {
    let plan = makePlan()
    server = plan.server
    self.makePlan = makePlan
    self.file = file
    self.desk = desk
    self.aim = aim
    identity = aim.identity.map { TransferIdentity.of(name: $0) }
    retry = TransferRetry(plan)
    meter = TransferMeter(.down, plan.server.manager.clock, from: file.present)
  }

  /// Runs until the file is in its place.
  func run() async throws {
    defer { file.close() }
    do {
      while wantsWhole || !(isConfirmed && file.isComplete) { try await next() }
    } catch {
      if file.present == 0, file.journal == nil { file.discard() }  // nothing came: nothing is left behind
      // So that a crash of the system costs nothing either. Where even that fails, the error is about something else.
      try? file.synchronise()
      throw error
    }
    try await finish()
  }

  /// Makes one attempt, and waits before the next where it failed.
  private func next() async throws {
    try await retry.pass(desk)
    attempts += 1
    hasGained = false
    do {
      desk.note(.running(present))
      try await desk.attempt { try await self.attempt() }
      if hasGained { retry.gained() }
    } catch is TransferDesk.Held {
      return  // it goes on once it is resumed
    } catch let failure as DownloadCrew.Failure {
      throw failure.error  // which was repeated as often as it may be
    } catch let error as TaskError {
      retry.failed(error, hasGained: hasGained)
      let delay = try await retry.delay(after: error, failedRequest(error))
      desk.note(.delayed(delay, error))
      try await server.manager.clock.sleep(for: delay)
    }
  }

  var present: TransferProgress {
    meter.present(of: file.journal?.total, attempt: attempts)
  }

  /// The request of a failed attempt, as far as it is known, for the retry policy.
  func failedRequest(_ error: TaskError) -> HTTPRequest {
    let url = error.url.flatMap { URL(string: $0) } ?? server.configuration.remote.url
    return HTTPRequest(.get, url ?? file.url)
  }

  // MARK: An attempt

  private func attempt() async throws {
    if let ranges = try rangesToFetch() { return try await fetch(ranges) }
    let offset = wantsWhole ? 0 : file.length
    var asked = DownloadStep.Asked(
      offset: offset, validator: file.journal?.validator, total: offset > 0 ? file.journal?.total : nil)
    if offset == 0, mayComeInRanges { asked = DownloadStep.Asked(offset: 0, end: aim.smallestRange) }
    let reply = try await ask(asked, isRepetition: retry.hasFailed)
    switch reply.source {
    case .failure(let error): try await act(on: reply.step, error)
    case .success(let response):
      do {
        try await receive(response, reply.step, of: reply.url)
      } catch {
        response.body.cancel()
        throw error
      }
    }
  }

  /// What came back, and what follows from it.
  struct Reply {
    let step: DownloadStep
    /// The response; the error of one that was refused.
    let source: Result<HTTPResponse, TaskError>
    /// The URL that was asked.
    let url: URL
  }

  /// Sends the request of a step; `isRepetition` says whether the one before failed.
  func ask(_ asked: DownloadStep.Asked, isRepetition: Bool) async throws -> Reply {
    var asked = asked
    do {
      let response = try await send(asked, isRepetition: isRepetition)
      let first = response.redirects.first?.url ?? response.url
      asked.isOther = isOther(first)
      let step = DownloadStep.after(response.status, response.headers, asked: asked)
      return Reply(step: step, source: .success(response), url: first)
    } catch let error as TaskError where error.code == .badStatus && !error.isOfAnotherCall {
      guard let status = error.status else { throw error }
      // The URL of an error is that of the last hop, and without secrets: what was asked for is the task's.
      let url = try await ServerSnapshot.url(of: makePlan())
      asked.isOther = isOther(url)
      return Reply(step: .after(status, error.headers, asked: asked), source: .failure(error), url: url)
    }
  }

  /// Sends the task, built anew: for the whole, or for what is missing of the version that is there.
  private func send(_ asked: DownloadStep.Asked, isRepetition: Bool) async throws -> HTTPResponse {
    var plan = makePlan()
    guard plan.range == nil else {
      throw TaskError(
        .badRequest, "a resumable download has the whole of what it names: leave the task's own range out",
        phase: .preparing, isSurelyNotSent: true)
    }
    let (remaining, transfer) = (try retry.time(), desk.number)
    plan.change { plan in
      plan.headers[.acceptEncoding] = "identity"
      plan.headers[.ifRange] = nil
      plan.range = nil
      plan.headers[.range] = asked.range
      if asked.range != nil { plan.headers[.ifRange] = asked.validator?.text }
      plan.acceptedStatuses = AcceptedStatuses { $0.kind == .success || $0 == .notModified }
      plan.retryPolicy = .never  // the attempts are those of the run
      plan.cachePolicy = .none
      plan.hedging = .none
      if let remaining { plan.timeouts.call = remaining }
      plan.transfer = transfer
      plan.isRepetition = isRepetition
    }
    guard plan.httpMethod == .get || plan.httpMethod == .automatic else {
      throw TaskError(
        .badRequest, "a \(plan.httpMethod) has no range to go on from: a resumable download is a GET",
        phase: .preparing, isSurelyNotSent: true)
    }
    return try await Call.stream(plan)
  }

  /// True where a response is to the request for something else than the journal is about.
  private func isOther(_ url: URL?) -> Bool {
    guard let journal = file.journal else { return true }
    return journal.identity != identity(of: url)
  }

  private func identity(of url: URL?) -> String { identity ?? url.map { TransferIdentity.of($0) } ?? "" }

  /// Does what follows from a refused request.
  private func act(on step: DownloadStep, _ error: TaskError) async throws {
    switch step {
    case .finished:
      try file.note(total: file.length, digest: nil)
      isConfirmed = true
    case .restart: beginAgain()
    case .renew:
      guard retry.mayRenew() else { throw error }
    default: throw error
    }
  }

  /// Has the whole asked for, as one.
  func beginAgain() { (wantsWhole, isOne) = (true, true) }

  /// Does what follows from a response.
  private func receive(_ response: HTTPResponse, _ step: DownloadStep, of url: URL) async throws {
    switch step {
    case .append(let end, let total):
      try check(total ?? end, response)
      let digest = TransferDigest.stated(in: response.headers, isWhole: false)
      if let total { try file.note(total: total, digest: digest) }
      isConfirmed = true
      try await write(response, until: end)
    case .replace(let length):
      // Bytes that were there and are sent again are none that were gained.
      if let length { try check(length, response) }
      let isFirst = file.present == 0
      let askedForWhole = wantsWhole
      (wantsWhole, isOne) = (false, true)
      // A body that ends with its connection may have been cut: of a version that is known, the length is.
      let validator = DownloadValidator(response.headers)
      let isKnown =
        !askedForWhole && validator != nil && validator == file.journal?.validator && !isOther(url)
      if isKnown, file.length > 0, let length, let total = file.journal?.total, length != total {
        guard try file.doubt() else {
          response.body.cancel()
          return beginAgain()
        }
        throw failure(
          .badResponse,
          "the server gives the same validator to \(total) bytes and to \(length): the bytes that are there are kept; if it happens again the download begins again, as it does after discard()",
          response)
      }
      let length = length ?? (isKnown ? file.journal?.total : nil)
      try file.begin(
        DownloadJournal(
          identity: identity(of: url), validator: validator, total: length,
          digest: TransferDigest.stated(in: response.headers, isWhole: response.status == .ok)))
      meter.restart(from: 0)
      isConfirmed = true
      try await write(response, until: length, gains: isFirst)
      if length == nil { try file.note(total: file.length, digest: nil) }  // its framing says that this was all
    case .split(let validator, let end, let total):
      try check(total, response)
      let digest = TransferDigest.stated(in: response.headers, isWhole: false)
      let journal = DownloadJournal(identity: identity(of: url), validator: validator, total: total, digest: digest)
      guard let ranges = aim.ranges(of: total, head: end, isThere: false) else { return beginAgain() }
      try file.split(journal, into: ranges)
      meter.restart(from: 0)
      isConfirmed = true
      try await fetch(ranges, response)
    case .restart:
      response.body.cancel()
      beginAgain()
    case .refuse(let reason):
      throw failure(.badResponse, "\(response.status): \(reason)", response)
    case .finished, .renew, .fail: throw unusable(response, as: "a GET")
    }
  }

  /// Writes a body behind what is there, as it comes.
  private func write(_ response: HTTPResponse, until end: Int64?, gains: Bool = true) async throws {
    let isResumable = gains && file.journal?.validator != nil
    let start = file.length
    while let chunk = try await response.body.next() {
      if let end, file.length + Int64(chunk.count) > end {
        wantsWhole = true
        try file.takeBack(to: start)  // what came before may be as wrong as this
        throw failure(.badResponse, "the body is longer than its header says", response)
      }
      try check(file.length + Int64(chunk.count), response)
      try file.append(chunk)
      hasGained = hasGained || isResumable
      tell(chunk.count)
    }
    guard let end, file.length < end else { return }
    throw failure(.truncatedBody, "the body ended at \(file.length) of \(end) bytes", response)
  }

  /// Tells of bytes that were written, where it is time to.
  func tell(_ count: Int) {
    if let progress = meter.add(count, of: file.journal?.total, attempt: attempts) { desk.note(.running(progress)) }
  }

  // MARK: The end

  /// Checks what came, and puts it in its place.
  private func finish() async throws {
    guard file.present <= aim.maximumSize else { throw tooLarge(.finishing) }
    try file.settle()
    if let expected = aim.digest?.sha256 ?? file.journal?.digest {
      let actual = try await file.sha256()
      guard actual == expected else {
        file.discard()
        throw TaskError(
          .digestMismatch,
          "the SHA-256 of \(file.url.lastPathComponent) is \(actual), and not \(expected.shortened): what came was thrown away",
          phase: .finishing)
      }
    }
    try Task.checkCancellation()
    try file.publish()
    desk.note(.running(meter.present(of: file.journal?.total, attempt: attempts, isFinished: true)))
  }
}
