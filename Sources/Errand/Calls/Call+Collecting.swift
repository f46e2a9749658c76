import ErrandFoundation

extension Call {
  /// Reads the rest of an attempt's body as the destination requires and returns the transfer timings. Afterwards, the
  /// outcome's body can be read again.
  func collect(_ outcome: inout Outcome) async throws -> TransferTimings? {
    let intake = outcome.intake
    if case .file = intake, !outcome.isVerified {
      outcome.isVerified = isVerified(outcome.response)
      guard outcome.isVerified else { return nil }  // `conclude` throws the error, which must not be retried
    }
    switch intake {
    case .excerpt: break  // read errors are ignored
    case .data, .discard, .file, .head: if let failure = outcome.response.body.failure { throw failure }
    }
    try await read(&outcome, as: intake)
    return outcome.response.body.timings
  }

  /// Reads the body, unless the exchange has already read it.
  func read(_ outcome: inout Outcome, as intake: Intake) async throws {
    let body = outcome.response.body
    switch intake {
    case .data:
      let data = try await gather(body)
      try outcome.response.checkPart(size: data.count)
      outcome.content = .memory(data)
    case .excerpt:
      let data = await excerpt(of: body)
      try checkCancellation()  // the excerpt ends where it was cancelled
      outcome.content = .memory(data)
      outcome.response.body = Excerpt.body(data, of: body)
    case .discard where body.isInMemory:
      outcome.content = .memory(try await body.collect())
    case .discard:
      let discarded = if let discarded = body.source as? DiscardedBody { discarded } else { try await drain(body) }
      outcome.content = .discarded(size: discarded.size, shown: discarded.shown)
      outcome.response.body = discarded.body
    case .file(let place):
      if written(body) == nil { outcome.response.body = try await write(outcome.response, to: place) }
      outcome.content = .file(size: written(outcome.response.body)?.size ?? 0)
    case .head: break  // the caller reads the body
    }
  }

  func gather(_ body: HTTPResponseBody) async throws -> Data {
    let limit = snapshot.configuration.maximumBodySize
    do {
      return try await body.gather(upTo: limit)
    } catch is HTTPBodyLimitError {
      throw TaskError(
        .bodyTooLarge,
        "the body exceeds maximumBodySize (\(limit) bytes): download it to a file, or stream it",
        phase: .receiving)
    }
  }

  /// Returns the outcome of the per-call steps. Its body is still unread, unless it has been written to the call's
  /// file.
  func outcome(ofSteps response: HTTPResponse) throws -> Outcome {
    try checkCancellation()
    return Outcome(self, response)
  }

  /// Reads the part of an error response's body that is kept in errors, or the entire body if a step may read it. Read
  /// errors are ignored.
  func excerpt(of body: HTTPResponseBody) async -> Data {
    let configuration = snapshot.configuration
    let limit = hasSteps ? configuration.maximumBodySize : configuration.maximumErrorBodySize
    if let excerpt = body.source as? Excerpt { return excerpt.all.prefix(limit) }  // a step may have read it
    // File downloads and streams have no time limit for the entire body, so the time for reading an excerpt is limited
    // here.
    return await beginning(of: body, upTo: limit, within: destination.isInMemory ? nil : streamTimeouts.idle)
  }

  /// Reads up to `limit` bytes and discards the rest. Returns what it has read if the body fails or the time is over.
  func beginning(of body: HTTPResponseBody, upTo limit: Int, within time: Duration?) async -> Data {
    defer { body.cancel() }
    let chunks = body.makeAsyncIterator()
    let time = body.isInMemory ? nil : time
    let data = try? await manager.clock.limiting(time, .idle, phase: .receiving) {
      var data = Data()
      // Reads past the limit to find out whether the body ends there.
      while let chunk = try? await chunks.next() {
        let rest = limit - data.count
        data.append(chunk.prefix(rest))
        if chunk.count > rest { break }
      }
      return data
    }
    // The time limit cancels the reader, but the call is not cancelled.
    if let time, body.failure is CancellationError, !Task.isCancelled {
      body.fail(TaskError.timeout(.idle, after: time, phase: .receiving))
    }
    return data ?? Data()
  }

  /// The maximum size of a body that the caller discards and that steps and hooks can read.
  var keptSize: Int {
    let configuration = snapshot.configuration
    return hasSteps
      ? configuration.maximumBodySize : min(configuration.maximumErrorBodySize, configuration.maximumBodySize)
  }

  /// Reads and discards a body. Keeps it for hooks, steps, the cache, echo and recording if it does not exceed their
  /// size limits.
  func drain(_ body: HTTPResponseBody) async throws -> DiscardedBody {
    let keptSize = rules.caching == nil ? keptSize : snapshot.configuration.maximumBodySize
    let shownSize = isShown ? snapshot.configuration.maxLoggedDownloadSize : 0
    var size = 0
    var data = Data()
    let chunks = try body.fromStart()
    while let chunk = try await chunks.next() {
      size += chunk.count
      if size <= max(keptSize, shownSize) { data.append(chunk) } else { data = Data() }
    }
    return DiscardedBody(
      size: size, kept: size <= keptSize ? data : nil, shown: isShown ? (size <= shownSize ? data : Data()) : nil,
      of: body)
  }

  /// Writes a body to a temporary file that replaces the destination once complete. If anything fails, the destination
  /// is unchanged.
  @concurrent func write(_ response: HTTPResponse, to place: FilePlace) async throws -> HTTPResponseBody {
    let chunks = try response.body.fromStart()
    let file =
      switch place {
      case .exact(let url): try PartialFile(for: url)
      case .named(let folder, let replacing):
        try PartialFile(for: folder.appendingPathComponent(response.suggestedFileName), replacing: replacing)
      }
    var size = 0
    do {
      while let chunk = try await chunks.next() {
        size += chunk.count
        try file.write(chunk)
      }
      try response.checkPart(size: size)
      try checkCancellation()
    } catch {
      file.discard()
      throw error
    }
    let body = response.body
    let written = HTTPResponseBody(WrittenBody(file, size: size), trailers: body.trailers, timings: body.timings)
    closeAtEnd(written)
    return written
  }
}

extension HTTPResponse {
  /// Throws if the length of a 206 body does not match its `Content-Range`. The transport checks `Content-Length`.
  fileprivate func checkPart(size: Int) throws {
    guard status == .partialContent, let stated = sizeOfPart, stated != size else { return }
    throw TaskError(
      size < stated ? .truncatedBody : .badResponse,
      "the body has \(size) bytes, but its Content-Range specifies \(stated)", phase: .receiving)
  }
}
