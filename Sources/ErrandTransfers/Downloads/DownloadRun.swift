import Errand
import ErrandFoundation

/// A single run of a download. Sends requests, performs the ``DownloadStep`` for each response, and writes the bodies.
actor DownloadRun {
  private let makePlan: @Sendable () -> TaskPlan
  let file: DownloadFile
  let coordinator: TransferCoordinator
  let aim: DownloadOptions
  /// The content's identity, if it was set by the app. `nil` to derive it from the URL.
  private let identity: String?
  let server: Server
  let settings: ServerSnapshot
  var retry: TransferRetry
  private var meter: TransferMeter
  var attempts = 0
  /// The last response that confirmed that the partial file belongs to the current version, without its body.
  var confirmation: Outcome?
  var wantsWhole = false
  /// Whether the file is downloaded as a single stream, even if the options allow ranges.
  var isOne = false
  var workers = RangeWorkers()
  /// Whether the attempt added bytes that a later attempt can use.
  private var hasGained = false

  init(
    _ makePlan: @escaping @Sendable () -> TaskPlan, _ file: sending DownloadFile, _ coordinator: TransferCoordinator,
    _ aim: DownloadOptions
  ) {
    var plan = makePlan()
    plan.keepSettings()
    server = plan.server
    settings = plan.settings
    self.makePlan = plan.passingSettings(to: makePlan)
    self.file = file
    self.coordinator = coordinator
    self.aim = aim
    identity = aim.identity.map { TransferIdentity.of(name: $0) }
    retry = TransferRetry(plan)
    meter = TransferMeter(.down, plan.server.manager.clock, from: file.present)
  }

  func run() async throws -> TaskResponse<URL> {
    defer { file.close() }
    do {
      while true {
        if let confirmation, file.isComplete, !wantsWhole { return try await finish(confirmation) }
        try await next()
      }
    } catch {
      if file.present == 0, file.journal == nil { file.discard() }  // nothing arrived: leave no files behind
      // Protect the bytes against a system crash. Ignore a failure here, because the original error matters more.
      try? file.synchronise()
      throw error
    }
  }

  /// Makes one attempt. If it fails, waits until the next one is due.
  private func next() async throws {
    try await retry.pass(coordinator)
    attempts += 1
    hasGained = false
    do {
      coordinator.note(.running(present))
      try await coordinator.attempt { try await self.attempt() }
      if hasGained { retry.gained() }
    } catch is TransferCoordinator.PausedError {
      return  // the next attempt waits for `resume()`
    } catch let failure as RangeWorkers.Failure {
      throw failure.error  // all retries have been used up
    } catch let error as TaskError {
      retry.failed(error, hasGained: hasGained)
      let delay = try await retry.delay(after: error, failedRequest(error))
      coordinator.note(.delayed(delay, error))
      try await server.manager.clock.sleep(for: delay)
    }
  }

  var present: TransferProgress {
    meter.present(of: file.journal?.total, attempt: attempts)
  }

  /// Returns a request that represents the failed attempt in the retry policy.
  func failedRequest(_ error: TaskError) -> HTTPRequest {
    let url = error.url.flatMap { URL(string: $0) } ?? settings.configuration.remote.url
    return HTTPRequest(.get, url ?? file.url)
  }

  // MARK: Attempts

  private func attempt() async throws {
    if let ranges = try rangesToFetch() { return try await fetch(ranges) }
    let offset = wantsWhole ? 0 : file.length
    var asked = DownloadStep.Asked(
      offset: offset, validator: file.journal?.validator, total: offset > 0 ? file.journal?.total : nil)
    if offset == 0, mayComeInRanges { asked = DownloadStep.Asked(offset: 0, end: aim.smallestRange) }
    let reply = try await ask(asked, isRepetition: retry.hasFailed)
    switch reply.source {
    case .failure(let error): try act(on: reply, error)
    case .success(let response):
      do {
        try await receive(response, reply)
      } catch {
        response.body.cancel()
        throw error
      }
    }
  }

  struct Reply {
    let call: Call
    let step: DownloadStep
    /// The response, or the error of a rejected request.
    let source: Result<HTTPResponse, TaskError>
    let url: URL

    /// The response without its body.
    var head: Outcome {
      switch source {
      case .success(var response):
        response.body = HTTPResponseBody()
        return Outcome(call, response)
      case .failure(let error):
        return Outcome(call, HTTPResponse(error.status ?? .ok, url: url, headers: error.headers))
      }
    }
  }

  /// Sends a request. `isRepetition` is `true` if the previous request failed.
  func ask(_ asked: DownloadStep.Asked, isRepetition: Bool) async throws -> Reply {
    var asked = asked
    let call = Call(try plan(for: asked, isRepetition: isRepetition), .stream)
    do {
      let response = try await Self.perform(call)
      let first = response.redirects.first?.url ?? response.url
      asked.isOther = isOther(first)
      let step = DownloadStep.after(response.status, response.headers, asked: asked)
      return Reply(call: call, step: step, source: .success(response), url: first)
    } catch let error as TaskError where error.code == .badStatus && !error.isFromAnotherCall {
      guard let status = error.status else { throw error }
      // Use the task's URL, because an error contains only the redacted URL after the last redirect.
      let url = try await ServerSnapshot.url(of: makePlan())
      asked.isOther = isOther(url)
      let step = DownloadStep.after(status, error.headers, asked: asked)
      return Reply(call: call, step: step, source: .failure(error), url: url)
    }
  }

  @concurrent private static func perform(_ call: Call) async throws -> HTTPResponse {
    try await call.perform { $0.response }
  }

  /// Builds the task again and requests the entire file or the missing bytes of the known version.
  private func plan(for asked: DownloadStep.Asked, isRepetition: Bool) throws -> TaskPlan {
    var plan = makePlan()
    if let reason = Self.refusal(of: plan) { throw TaskError(.badRequest, reason, phase: .preparing, wasNotSent: true) }
    let (remaining, transfer) = (try retry.time(), coordinator.number)
    plan.change { plan in
      plan.headers[.acceptEncoding] = "identity"
      plan.headers[.ifRange] = nil
      plan.range = nil
      plan.headers[.range] = asked.range
      if asked.range != nil { plan.headers[.ifRange] = asked.validator?.text }
      plan.acceptedStatuses = AcceptedStatuses { $0.kind == .success || $0 == .notModified }
      plan.retryPolicy = .never  // the run itself retries
      plan.cachePolicy = .none
      plan.hedging = .none
      if let remaining { plan.timeouts.call = remaining }
      plan.transfer = transfer
      plan.isRepetition = isRepetition
    }
    return plan
  }

  /// Returns the reason if the task can't be downloaded in several requests.
  private static func refusal(of plan: TaskPlan) -> String? {
    if plan.range != nil { return "can't combine ResumableDownload with range(_:): remove the range" }
    if plan.idempotency == .neverRepeat {
      return
        "\(plan.taskName) is .neverRepeat, but a resumable download repeats a request if its response was lost: use download(to:)"
    }
    guard plan.httpMethod == .get || plan.httpMethod == .automatic else {
      return "can't resume a \(plan.httpMethod): ResumableDownload requires GET"
    }
    return nil
  }

  /// Whether the URL and the journal identify different content.
  private func isOther(_ url: URL?) -> Bool {
    guard let journal = file.journal else { return true }
    return journal.identity != identity(of: url)
  }

  private func identity(of url: URL?) -> String { identity ?? url.map { TransferIdentity.of($0) } ?? "" }

  private func act(on reply: Reply, _ error: TaskError) throws {
    switch reply.step {
    case .finished:
      try file.note(total: file.length, digest: nil)
      confirmation = reply.head
    case .restart: beginAgain()
    case .renew:
      guard retry.mayRenew() else { throw error }
    default: throw error
    }
  }

  /// Makes the next attempt request the entire file, without ranges.
  func beginAgain() { (wantsWhole, isOne) = (true, true) }

  private func receive(_ response: HTTPResponse, _ reply: Reply) async throws {
    let url = reply.url
    switch reply.step {
    case .append(let end, let total):
      try check(total ?? end, response)
      let digest = TransferDigest.stated(in: response.headers, isWhole: false)
      if let total { try file.note(total: total, digest: digest) }
      confirmation = reply.head
      try await write(response, until: end)
    case .replace(let length):
      // Bytes that are received again do not count as progress.
      if let length { try check(length, response) }
      let isFirst = file.present == 0
      let askedForWhole = wantsWhole
      (wantsWhole, isOne) = (false, true)
      // A body without a declared length can be truncated without an error. Check it against the version's known
      // length.
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
          "the server sent the same validator for files of \(total) and \(length) bytes: run the download again, or call discard() first to start over; the bytes received so far are kept",
          response)
      }
      let length = length ?? (isKnown ? file.journal?.total : nil)
      try file.begin(
        DownloadJournal(
          identity: identity(of: url), validator: validator, total: length,
          digest: TransferDigest.stated(in: response.headers, isWhole: response.status == .ok)))
      meter.restart(from: 0)
      confirmation = reply.head
      try await write(response, until: length, gains: isFirst)
      if length == nil { try file.note(total: file.length, digest: nil) }  // complete according to its framing
    case .split(let validator, let end, let total):
      try check(total, response)
      let digest = TransferDigest.stated(in: response.headers, isWhole: false)
      let journal = DownloadJournal(identity: identity(of: url), validator: validator, total: total, digest: digest)
      guard let ranges = aim.ranges(of: total, head: end, isThere: false) else { return beginAgain() }
      try file.split(journal, into: ranges)
      meter.restart(from: 0)
      confirmation = reply.head
      try await fetch(ranges, response)
    case .restart:
      response.body.cancel()
      beginAgain()
    case .refuse(let reason):
      throw failure(.badResponse, "\(response.status): \(reason)", response)
    case .finished, .renew, .fail: throw unusable(response, as: "a GET")
    }
  }

  private func write(_ response: HTTPResponse, until end: Int64?, gains: Bool = true) async throws {
    let isResumable = gains && file.journal?.validator != nil
    let start = file.length
    let chunks = try response.body.fromStart()
    while let chunk = try await chunks.next() {
      if let end, file.length + Int64(chunk.count) > end {
        wantsWhole = true
        try file.takeBack(to: start)  // the earlier bytes may be wrong too
        throw failure(.badResponse, "the body is longer than its declared length", response)
      }
      try check(file.length + Int64(chunk.count), response)
      try file.append(chunk)
      hasGained = hasGained || isResumable
      notify(chunk.count)
    }
    guard let end, file.length < end else { return }
    throw failure(.truncatedBody, "the body ended after \(file.length) of \(end) bytes", response)
  }

  /// Counts written bytes and reports progress if an update is due.
  func notify(_ count: Int) {
    if let progress = meter.add(count, of: file.journal?.total, attempt: attempts) {
      coordinator.note(.running(progress))
    }
  }

  // MARK: Finishing

  private func finish(_ last: Outcome) async throws -> TaskResponse<URL> {
    guard file.present <= aim.maximumSize else { throw tooLarge(.finishing) }
    let result = TaskResponse(file.url, last)
    coordinator.note(.running(meter.present(of: file.journal?.total, attempt: attempts, isFinished: true)))
    try file.settle()
    if let expected = aim.digest?.sha256 ?? file.journal?.digest {
      coordinator.note(.verifying)
      let actual = try await file.sha256()
      guard actual == expected else {
        file.discard()
        throw last.call.explained(
          TransferDigest(sha256: expected).mismatch(actual, "; the download was discarded"))
      }
    }
    try Task.checkCancellation()
    try file.publish()
    return result
  }
}
