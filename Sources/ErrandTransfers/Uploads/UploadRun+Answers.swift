import Errand
import ErrandFoundation

extension UploadRun {
  func follow(_ answer: TaskResponse<Data>, after piece: UploadPiece?) async throws {
    let stated = answer.headers.number("Upload-Length")
    // A different length means that the server has reused the location for another upload.
    if piece == nil, let length, let stated, stated != length { return try await beginAgain(answer) }
    if isDeferred, isRestored || hasSentLast, let stated, answer.status.kind == .success {
      // The server received the length with a last chunk that was truncated. Do not send the length again.
      (isDeferred, length) = (false, stated)
      keep.noteLengthTold()
    }
    let position = job.dialect.position(UploadAnswer(answer), after: piece)
    switch position {
    case .at(let position, let location):
      if let location { try move(to: location, answer) }
      try await reach(position, answer, after: piece)
    case .finished:
      guard piece?.isLast ?? (isRestored || hasSentLast) else {
        throw TaskError.contradicted(
          "the server reports \(job.name) as complete, but its last chunk has not been sent", answer, settings)
      }
      try finish(answer)
    case .unknown, .taken:
      if position == .taken { taken = answer }
      offset = nil
      try await detour(answer)
    case .gone:
      // A server that accepted the last chunk may have deleted the upload by now.
      if let taken { try finish(taken) } else { try await beginAgain(answer) }
    case .failed:
      if answer.status.isRefusal, retry.mayRenew() {
        offset = nil
      } else if isRestored, answer.status != .unauthorized, UploadAnswer(answer).isFinal {
        try await beginAgain(answer)  // an earlier run's upload no longer exists
      } else {
        throw TaskError.refused(answer, settings)
      }
    case .rejected:
      keep.forget()
      let error = TaskError.refused(answer, settings)
      lastWord = error
      throw error
    }
  }

  /// Starts the upload over. Keeps the journal until the new upload has started, in case of an error. Throws if the
  /// task must not be repeated, or if the server may have the entire content, because resending the content could
  /// create a duplicate.
  private func beginAgain(_ answer: TaskResponse<Data>) async throws {
    if let reason = reasonNotToBeginAgain {
      var error = TaskError.refused(answer, settings)
      error.retryRefusal = "\(reason): to upload it again, call discard(), then run()"
      lastWord = error
      throw error
    }
    (session, offset, isRestored) = (nil, nil, false)
    try await detour(answer)
  }

  private var reasonNotToBeginAgain: String? {
    switch makePlan().idempotency {
    case .safeToRepeat: nil
    case _ where mayBeWhole: "the server may already have \(job.name)"
    case .neverRepeat: "the server no longer has the upload of \(job.name), and the task is .neverRepeat"
    case .automatic, .key: nil
    }
  }

  /// Sends later requests to a new location. Throws if they must not be sent there.
  private func move(to location: URL, _ answer: TaskResponse<Data>) throws {
    guard session?.location != location else { return }
    do {
      _ = try place(at: location)
    } catch {
      throw TaskError.contradicted(error.reason, answer, settings)
    }
    try keep.note(location: location)
    session?.location = location
  }

  func reach(_ position: Int64, _ answer: TaskResponse<Data>, after piece: UploadPiece?) async throws {
    let most = min(length ?? .max, piece.map { $0.offset + $0.count } ?? sent ?? .max)
    guard position >= 0, position <= most else {
      if isRestored { return try await beginAgain(answer) }
      throw TaskError.contradicted(
        "the server reports \(position) bytes of \(job.name), but only \(most) were sent", answer, settings)
    }
    isRestored = false
    // If the length was unknown at first, the server does not know it until it receives the last chunk.
    let isWhole = position == length && job.dialect.endsWithLastByte && (!isDeferred || piece?.isLast == true)
    if !isWhole {
      taken = nil
      noteIncomplete()
    }
    if position > furthest {
      (furthest, hasGained) = (position, true)
      backoff.end()
    } else if let piece, position <= piece.offset, !isWhole {
      try await detour(answer)  // the chunk was accepted, but none of it was stored
    }
    offset = position
    if isWhole { try finish(answer) }
  }

  private func finish(_ answer: TaskResponse<Data>) throws {
    try check()
    result = answer
    offset = length
    let progress = progress(isFinished: true)
    makePlan().progress?(progress)
    coordinator.note(.running(progress))
  }

  /// Waits after a request that made no progress. Throws if there have been too many such requests in a row.
  private func detour(_ answer: TaskResponse<Data>) async throws {
    var error = TaskError.refused(answer, settings)
    guard let wait = backoff.detour() else {
      error.retryRefusal = "the server responds but does not store any data"
      throw error
    }
    guard wait > .zero else { return }
    let delay = max(wait, RetryAfter.delay(in: answer.headers, now: server.manager.dates.now) ?? .zero)
    if let refusal = retry.refusal(of: delay) {
      error.retryRefusal = refusal
      throw error
    }
    if let remaining = retry.remaining, delay >= remaining { throw error }
    coordinator.note(.delayed(delay, error))
    try await server.manager.clock.sleep(for: delay)
  }
}
