import ErrandFoundation

extension Call {
  /// Reads the body of an attempt to its end, as the call wants it; returns the timings of its transfer. The body of the
  /// outcome can be read once more.
  func collect(_ outcome: inout Outcome) async throws -> TransferTimings? {
    outcome.isRead = true
    var stored: HTTPResponseBody?
    switch delivery {
    case .memory where outcome.isAccepted && !outcome.isUnaskedWhole:
      let (data, timings) = try await gather(outcome.response.body)
      try outcome.response.checkPart(size: data.count)
      (outcome.data, outcome.size) = (data, data.count)
      return timings
    case .discarded where outcome.isAccepted:
      (outcome.size, outcome.shown) = try await drain(outcome.response.body)
    case .file(let place) where outcome.isSuccess && outcome.isWhole:
      try verify(outcome.response)
      let (file, size) = try await write(outcome.response, to: place)
      (outcome.size, outcome.isVerified) = (size, true)
      // What is in its place stays until the steps around have seen what came.
      if seesFile { stored = heldBack(file) } else { outcome.file = try publish(file) }
    case .memory, .discarded, .file, .stream:
      outcome.data = await excerpt(of: outcome.response.body)
      outcome.size = outcome.data.count
    }
    let timings = outcome.response.body.timings
    outcome.response.body =
      stored ?? HTTPResponseBody(outcome.data, trailers: outcome.response.body.trailers)
    return timings
  }

  func gather(_ body: HTTPResponseBody) async throws -> (data: Data, timings: TransferTimings?) {
    let limit = snapshot.configuration.maximumBodySize
    do {
      return try await body.gather(upTo: limit)
    } catch is HTTPBodyLimitError {
      throw TaskError(
        .bodyTooLarge,
        "the body is larger than the \(limit) bytes of maximumBodySize: download it to a file, or stream it",
        phase: .receiving)
    }
  }

  /// The body that is in a file, to be read once more, while that is held back.
  private func heldBack(_ file: PartialFile) -> HTTPResponseBody {
    let source = StoredBody(file.writtenAt)
    source.open()
    let stored = HTTPResponseBody(source)
    // One whose body nobody has any more is dropped: a step has sent the request again.
    for held in state.withLock({ $0.holdBack(file, readBy: stored) }) { held.file.discard() }
    return stored
  }

  /// True where steps see the file before the caller does.
  private var seesFile: Bool { surroundings?.callSteps.isEmpty == false }

  /// Drops the files that were held back.
  func dropHeldBack() {
    let (files, dropped) = state.withLock { $0.takeHeldBack() }
    drop(files, dropped)
  }

  private func drop(_ files: [CallState.HeldBack], _ dropped: [CallState.HeldBack]) {
    for held in files { held.file.discard() }
    // One that was dropped before may have left folders, for a file that was beside it.
    for held in dropped + files { held.file.removeFolders() }
  }

  /// The outcome of the steps that see the call once. Its body is still to be read, unless it is in the call's file, which is put in
  /// its place.
  func outcome(ofSteps response: HTTPResponse) throws -> Outcome {
    try checkCancellation()
    var outcome = Outcome(self, response)
    var (files, dropped) = state.withLock { $0.takeHeldBack() }
    let isWanted = outcome.isSuccess && outcome.isWhole  // a step may have made a refusal of it
    let file = files.firstIndex { isWanted && $0.body === response.body }.map { files.remove(at: $0).file }
    drop(files, dropped)
    guard let file else { return outcome }
    outcome.response.body = HTTPResponseBody()
    (outcome.isRead, outcome.isVerified) = (true, true)
    do {
      outcome.file = try publish(file)
    } catch {
      drop([], dropped + files)  // their folders, which the file was in
      throw error
    }
    return outcome
  }

  /// Reads the body that a step has answered with, as the call wants it.
  func read(_ outcome: Outcome) async throws -> Outcome {
    var outcome = outcome
    switch delivery {
    case .file(let place) where outcome.isSuccess:
      let (file, size) = try await write(outcome.response, to: place)
      (outcome.file, outcome.size) = (try publish(file), size)
      outcome.response.body = HTTPResponseBody()
    case .discarded:
      (outcome.size, outcome.shown) = try await drain(outcome.response.body)
    case .memory, .file, .stream:
      outcome.data = try await gather(outcome.response.body).data
      try outcome.response.checkPart(size: outcome.data.count)
    }
    outcome.isRead = true
    return outcome
  }

  /// As much of a refused response's body as errors keep; that it broke off is not what the caller needs to know.
  func excerpt(of body: HTTPResponseBody) async -> Data {
    let limit = snapshot.configuration.maximumErrorBodySize
    // A body that goes to a file or a reader has no time limit as a whole; an excerpt goes to neither.
    if !delivery.isInMemory, !body.isInMemory { return await excerptInTime(of: body, upTo: limit) }
    var data = Data()
    while data.count < limit, let chunk = try? await body.next() { data.append(chunk.prefix(limit - data.count)) }
    body.cancel()
    return data
  }

  /// As much of a body as comes within the idle time limit.
  private func excerptInTime(of body: HTTPResponseBody, upTo limit: Int) async -> Data {
    let data = Lock(Data())
    try? await manager.clock.limiting(streamTimeouts.idle, .idle, phase: .receiving) {  // what came until then will do
      while let left = Optional(limit - data.withLock { $0.count }), left > 0, let chunk = try await body.next() {
        data.withLock { $0.append(chunk.prefix(left)) }
      }
    }
    body.cancel()
    return data.withLock { $0 }
  }

  /// Reads and drops a body. Where it is to be shown, it is kept up to the size that is shown, and no further.
  private func drain(_ body: HTTPResponseBody) async throws -> (size: Int, shown: Data?) {
    var size = 0
    var shown = isShown ? Data() : nil
    while let chunk = try await body.next() {
      size += chunk.count
      guard isShown else { continue }
      if size <= snapshot.configuration.maxLoggedDownloadSize { shown?.append(chunk) } else { shown = Data() }
    }
    return (size, shown)
  }

  /// Writes a body beside its place, to be put there once it is complete: what was there stays until then, and for good if
  /// anything fails. Returns the file and the number of bytes.
  @concurrent private func write(_ response: HTTPResponse, to place: FilePlace) async throws -> (PartialFile, Int) {
    let file =
      switch place {
      case .exact(let url): try PartialFile(for: url)
      case .named(let folder, let replacing):
        try PartialFile(for: folder.appendingPathComponent(response.suggestedFileName), replacing: replacing)
      }
    var size = 0
    do {
      while let chunk = try await response.body.next() {
        size += chunk.count
        try file.write(chunk)
      }
      try response.checkPart(size: size)
      try checkCancellation()
    } catch {
      file.discard()
      throw error
    }
    return (file, size)
  }
}

extension HTTPResponse {
  /// Throws where the body is not as long as its `Content-Range` says: with a length of its own, the transport has seen it.
  @inline(__always)
  fileprivate func checkPart(size: Int) throws {
    guard status == .partialContent, let stated = sizeOfPart, stated != size else { return }
    throw TaskError(
      size < stated ? .truncatedBody : .badResponse,
      "the part has \(size) bytes, and by its Content-Range \(stated)", phase: .receiving)
  }
}
