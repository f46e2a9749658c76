extension Call {
  /// Sends a request through steps, the first of them first, and past them to `last`.
  @inline(__always)  // most calls have no steps
  func through(
    _ steps: [any Step], _ request: HTTPRequest, _ last: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    guard !steps.isEmpty else { return try await last(request) }
    return try await Next(ArraySlice(steps), last: last)(request)
  }

  /// Sends the request of an attempt through its steps, which may make calls of their own.
  @inline(__always)
  func through(
    _ steps: [any PerAttemptStep], of attempt: Attempt, _ request: HTTPRequest,
    _ last: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    guard !steps.isEmpty else { return try await last(request) }
    return try await attempt.enclosing { try await Next(ArraySlice(steps), last: last)(request) }
  }

  /// Whether an app's steps see the responses of its attempts.
  var hasAttemptSteps: Bool { !snapshot.configuration.perAttemptSteps.isEmpty }

  /// Whether a call may be made while a request is sent, or its response seen, that is waited for.
  func mayEncloseCalls(_ request: HTTPRequest) -> Bool { hasAttemptSteps || request.body.isStream }

  /// What has the bodies of a call wait that somebody holds from outside; nil where nobody does.
  var pausing: (any PerAttemptStep)? { plan.control.map { PauseStep(gate: $0.gate) } }

  /// What waits for a network; nil where the server does not.
  var waitingForConnectivity: (any PerAttemptStep)? {
    guard snapshot.configuration.waitsForConnectivity else { return nil }
    return ConnectivityWait(
      reachability: snapshot.configuration.reachability, allowance: connectivityAllowance, clock: manager.clock)
  }
}
