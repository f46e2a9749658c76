extension ServerTask {
  /// Asks for the head of the answer only: the task's request with HEAD and without its body.
  ///
  /// Everything else is as in any other call: the server's rules, headers, hooks and retries.
  ///
  /// - Returns: The response; it has no body.
  /// - Throws: ``TaskError``, what a hook threw, or `CancellationError` when the call was cancelled.
  public func head() async throws -> HTTPResponse {
    var plan = plan
    plan.httpMethod = .head
    plan.omitsBody = true
    return try await Server.perform(plan, .discarded) { $0.response }
  }
}
