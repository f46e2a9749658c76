/// Recovers from a failed call: returns a response or throws another error.
///
///     configuration.perCallSteps.append(Recovery(from: .offline) { request, error in
///       if let kept = shelf[request.url] { return kept }
///       throw error
///     })
///
/// Runs after all attempts of the call have failed, if the last error is of the given kind. The response is checked,
/// decoded and passed to hooks like any other.
public struct Recovery: PerCallStep {
  /// The kind of error to recover from.
  public struct Cause: Sendable {
    let includes: @Sendable (TaskError) -> Bool

    /// The server could not be reached: ``TaskError/isOffline``.
    public static let offline = Cause { $0.isOffline }

    /// A timeout expired: ``TaskError/isTimeout``. ``TaskError/timer`` specifies which timeout. The call's deadline,
    /// ``Timeouts/call``, also ends this step, so the step can't recover from it.
    public static let timeout = Cause { $0.isTimeout && $0.timer != .call }
  }

  private let cause: Cause
  private let recover: @Sendable (HTTPRequest, TaskError) async throws -> HTTPResponse

  /// Creates a step that calls `recover` after a failure. The closure returns a response or throws an error, which can
  /// be the one it received.
  public init(
    from cause: Cause,
    _ recover: @escaping @Sendable (_ request: HTTPRequest, _ error: TaskError) async throws -> HTTPResponse
  ) {
    self.cause = cause
    self.recover = recover
  }

  /// Sends the request and recovers if it fails with an error of the given kind.
  /// Throws the error that `recover` throws, or any other error from `next`.
  public func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
    do {
      return try await next(request)
    } catch let error as TaskError where cause.includes(error) {
      return try await recover(request, error)
    }
  }
}
