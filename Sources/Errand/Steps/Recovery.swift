/// A step that gives an answer, or another error, where a call has failed for a stated reason.
///
///     configuration.perCallSteps.append(Recovery(from: .offline) { request, error in
///       if let kept = shelf[request.url] { return kept }
///       throw error
///     })
///
/// It runs once the call has given up: all attempts have failed, the last with an error of this kind. Its answer is
/// checked, decoded and seen by hooks like any other response.
public struct Recovery: PerCallStep {
  /// Errors that can be recovered from.
  public struct Cause: Sendable {
    let includes: @Sendable (TaskError) -> Bool

    /// The remote could not be reached: ``TaskError/isOffline``.
    public static let offline = Cause { $0.isOffline }

    /// A time limit was exceeded: ``TaskError/isTimeout``; ``TaskError/timer`` says which one. The deadline of the call itself,
    /// ``Timeouts/call``, ends this step too and cannot be recovered from here.
    public static let timeout = Cause { $0.isTimeout && $0.timer != .call }
  }

  private let cause: Cause
  private let recover: @Sendable (HTTPRequest, TaskError) async throws -> HTTPResponse

  /// A step that asks `recover`, which answers or throws: the error that it is given, or another.
  public init(
    from cause: Cause,
    _ recover: @escaping @Sendable (_ request: HTTPRequest, _ error: TaskError) async throws -> HTTPResponse
  ) {
    self.cause = cause
    self.recover = recover
  }

  /// Passes the request on, and recovers where that fails for the stated reason.
  /// Throws what `next` throws for any other, and what the closure throws.
  public func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
    do {
      return try await next(request)
    } catch let error as TaskError where cause.includes(error) {
      return try await recover(request, error)
    }
  }
}
