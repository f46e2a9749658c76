extension Server {
  /// How long the remote takes to answer, whatever it answers: a HEAD of the remote's own URL.
  ///
  /// It is a call like any other: a disabled server refuses it, the preflight sees it, the standard headers are sent,
  /// and it waits for its slot; only the time after that counts. It is not repeated.
  ///
  /// - Returns: From the moment the request had its slot to the end of the answer.
  /// - Throws: ``TaskError`` when there was no answer, or `CancellationError` when the call was cancelled.
  @discardableResult
  public nonisolated func ping() async throws -> Duration {
    var plan = Ping(server: self).plan
    plan.retryPolicy = .never
    plan.acceptedStatuses = .all
    return try await Server.perform(plan, .discarded) { outcome in
      outcome.call.trace.flightRecord.attempts.last?.duration ?? outcome.call.trace.elapsed
    }
  }
}

/// The task of ``Server/ping()``.
struct Ping: ServerHEADTask {
  let server: Server
}
