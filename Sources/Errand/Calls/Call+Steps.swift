extension Call {
  /// Sends a request through steps, the first of them first, and past them to `last`.
  @inline(__always)  // most calls have no steps
  func through(
    _ steps: [any Step], _ request: HTTPRequest, _ last: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    guard !steps.isEmpty else { return try await last(request) }
    return try await Next(ArraySlice(steps), last: last)(request)
  }

  /// What has the bodies of a call wait that somebody holds from outside; nil where nobody does.
  var pausing: (any PerAttemptStep)? { plan.control.map { PauseStep(gate: $0.gate) } }

  /// What waits for a network; nil where the server does not.
  var waitingForConnectivity: (any PerAttemptStep)? {
    guard snapshot.configuration.waitsForConnectivity else { return nil }
    return ConnectivityWait(
      reachability: snapshot.configuration.reachability, allowance: connectivityAllowance, clock: manager.clock)
  }
}
