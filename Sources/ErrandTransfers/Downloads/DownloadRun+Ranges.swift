import Errand
import ErrandFoundation

// Downloads a file in concurrent ranges. Each range has its own calls, retries and delays, and is written to its own
// part of the file. If a response shows that the version has changed, all ranges are cancelled.

extension DownloadRun {
  /// Whether the download may be split into ranges.
  var mayComeInRanges: Bool { aim.ranges > 1 && !isOne && !wantsWhole }

  /// Returns the ranges to fetch, from an earlier run or from splitting the missing part of the file. Returns `nil` if
  /// the file can't be split.
  func rangesToFetch() throws -> DownloadRanges? {
    if let ranges = file.ranges, !wantsWhole { return ranges }
    guard mayComeInRanges, let journal = file.journal, journal.validator?.kind == .eTag, let total = journal.total,
      total <= aim.maximumSize, total - file.length >= 2 * aim.smallestRange, file.length > 0,
      let ranges = aim.ranges(of: total, head: file.length, isThere: true)
    else { return nil }
    try file.split(journal, into: ranges)
    return ranges
  }

  /// Fetches the ranges until all are complete. If they can't be combined, the next attempt requests the entire file.
  /// `first` is the response to the request for the first range, if it has already arrived.
  func fetch(_ ranges: DownloadRanges, _ first: HTTPResponse? = nil) async throws {
    workers = RangeWorkers(for: ranges, most: aim.ranges, hasFirst: first != nil)
    do {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<workers.size {
          let response = number == 0 ? first : nil
          group.addTask { [self] in try await work(response) }
        }
        // The first error cancels the other workers. Wait for all workers, so that none of the workers writes
        // afterwards.
        while try await group.next() != nil {}
      }
    } catch is RangeWorkers.Mismatch {
      beginAgain()
    }
  }

  /// Fetches one range after another until none is left.
  private func work(_ first: HTTPResponse?) async throws {
    if let first, try await !complete(0, first) { return }
    while let (index, refusal) = workers.take(of: file.ranges) {
      guard try await complete(index, after: refusal) else { break }
    }
    // All remaining workers may now be waiting. If so, report the delay.
    if let rest = workers.restOfAll {
      coordinator.note(.delayed(max(.zero, rest.end - server.manager.clock.now), rest.error))
    }
  }

  /// Fetches a range. Returns `false` if the range is left to the other workers.
  private func complete(
    _ index: Int, _ first: HTTPResponse? = nil, after refusal: RangeWorkers.Refusal? = nil
  ) async throws -> Bool {
    var (retry, first) = (self.retry, first)
    retry.gained()  // earlier failures belong to other requests
    if let refusal { try await wait(refusal, &retry) }
    while let part = file.ranges?.parts[index], !part.isComplete {
      do {
        try await fetch(part, index, first, &retry)
        if isLonger(index, than: part) { retry.gained() }
      } catch let error as TaskError {
        if workers.yield(index, after: error, at: server.manager.clock.now) { return false }
        retry.failed(error, hasGained: isLonger(index, than: part))
        try await rest(after: error, &retry)
      }
      first = nil
    }
    workers.leave(index)
    return true
  }

  private func isLonger(_ index: Int, than part: DownloadRanges.Part) -> Bool {
    file.ranges.map { $0.parts[index].count > part.count } ?? false
  }

  /// Waits for the rest of a refused range's `Retry-After` delay. The refusal counts as the first failure after
  /// progress, because other ranges have arrived since then.
  private func wait(_ refusal: RangeWorkers.Refusal, _ retry: inout TransferRetry) async throws {
    let waited = server.manager.clock.now - refusal.moment
    let now = server.manager.dates.now
    guard let asked = RetryAfter.delay(in: refusal.error.headers, now: now), asked > waited else { return }
    retry.failed(refusal.error, hasGained: true)
    try await rest(after: refusal.error, &retry, waited: waited)
  }

  private func rest(after error: TaskError, _ retry: inout TransferRetry, waited: Duration = .zero) async throws {
    let clock = server.manager.clock
    let delay: Duration
    do {
      delay = try await retry.delay(after: error, failedRequest(error), waited: waited)
    } catch let error as TaskError {
      throw RangeWorkers.Failure(error: error)
    }
    workers.rest(RangeWorkers.Rest(end: clock.now + delay, error: error))
    if workers.restOfAll != nil { coordinator.note(.delayed(delay, error)) }
    defer { workers.wake() }
    try await clock.sleep(for: delay)
    coordinator.note(.running(present))
  }

  private func fetch(
    _ part: DownloadRanges.Part, _ index: Int, _ first: HTTPResponse?, _ retry: inout TransferRetry
  ) async throws {
    if let first { return try await write(first, to: index, from: part.next, until: part.end) }
    guard let journal = file.journal, let validator = journal.validator else { throw RangeWorkers.Mismatch() }
    let reply = try await ask(
      DownloadStep.Asked(offset: part.next, validator: validator, total: journal.total, end: part.end),
      isRepetition: retry.hasFailed)
    switch (reply.step, reply.source) {
    case (.append(let end, let total?), .success(let response)):
      do {
        try check(total, response)
      } catch {
        response.body.cancel()
        throw error
      }
      try file.note(total: total, digest: TransferDigest.stated(in: response.headers, isWhole: false))
      confirmation = reply.head
      try await write(response, to: index, from: part.next, until: end)
    case (.restart, let source):
      if case .success(let response) = source { response.body.cancel() }
      throw RangeWorkers.Mismatch()
    case (.refuse(let reason), .success(let response)):
      response.body.cancel()
      throw failure(.badResponse, "\(response.status): \(reason)", response)
    case (.renew, .failure) where retry.mayRenew(): return
    case (_, .failure(let error)): throw error
    case (_, .success(let response)):
      response.body.cancel()
      throw unusable(response, as: "a range request")
    }
  }

  private func write(_ response: HTTPResponse, to index: Int, from start: Int64, until end: Int64) async throws {
    let there = file.ranges?.parts[index].count ?? 0
    var next = start
    do {
      let chunks = try response.body.fromStart()
      while let chunk = try await chunks.next() {
        // A disk error in another range may have lost bytes of this range. Fetch them again.
        guard file.ranges?.parts[index].next == next else {
          throw failure(.fileNotWritable, "earlier data in this range may have been lost in a disk error", response)
        }
        next += Int64(chunk.count)
        guard next <= end else {
          try file.takeBack(index, to: there)  // the body is too long, so the earlier bytes may be wrong too
          throw RangeWorkers.Mismatch()
        }
        try file.append(chunk, to: index)
        notify(chunk.count)
      }
    } catch {
      response.body.cancel()
      throw error
    }
    guard next < end else { return }
    throw failure(.truncatedBody, "the body ended after \(next) of \(end) bytes", response)
  }
}
