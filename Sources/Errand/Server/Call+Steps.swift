extension Call {
  /// Sends a request through steps, the first of them first, and past them to `last`.
  @inline(__always)  // most calls have no steps
  func through(
    _ steps: [any Step], _ request: HTTPRequest, _ last: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    guard !steps.isEmpty else { return try await last(request) }
    return try await Next(ArraySlice(steps), last: last)(request)
  }

  /// What has the bodies of a call wait that somebody holds from outside.
  var pausing: [any Step] { plan.control.map { [PauseStep(gate: $0.gate)] } ?? [] }

  /// What waits for a network, where the server does.
  var waitingForConnectivity: [any Step] {
    let configuration = snapshot.configuration
    guard configuration.waitsForConnectivity else { return [] }
    return [
      ConnectivityWait(
        reachability: configuration.reachability, limit: configuration.connectivityTimeout, clock: manager.clock)
    ]
  }
}
