extension Call {
  /// 5. Through the steps that see a call once.
  @inline(__always)  // most calls have no steps
  func throughCallSteps(
    _ request: HTTPRequest, _ last: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    let steps = snapshot.configuration.perCallSteps
    guard !steps.isEmpty else { return try await last(request) }
    return try await Next(ArraySlice(steps.map { $0 as any Step }), last: last)(request)
  }

  /// 7. Through the steps that see every attempt.
  @inline(__always)  // most calls have no steps
  func throughAttemptSteps(
    _ request: HTTPRequest, _ last: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
  ) async throws -> HTTPResponse {
    var steps = snapshot.configuration.perAttemptSteps
    if snapshot.configuration.waitsForConnectivity {
      steps.append(
        ConnectivityWait(
          reachability: snapshot.configuration.reachability, limit: snapshot.configuration.connectivityTimeout,
          clock: manager.clock))
    }
    if let control = plan.control { steps.insert(PauseStep(gate: control.gate), at: 0) }
    guard !steps.isEmpty else { return try await last(request) }
    return try await Next(ArraySlice(steps.map { $0 as any Step }), last: last)(request)
  }
}
