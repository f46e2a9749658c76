/// A step that gives an answer, or another error, where the remote could not be reached.
///
///     configuration.perCallSteps.append(OfflineRecovery { request, error in
///       if let kept = shelf[request.url] { return kept }
///       throw error
///     })
///
/// It is asked once the call has given up: all attempts have failed, the last with an error that
/// ``TaskError/isOffline``. What it answers is checked, decoded and seen by hooks like any other response.
public struct OfflineRecovery: PerCallStep {
  private let recover: @Sendable (HTTPRequest, TaskError) async throws -> HTTPResponse

  /// A step that asks `recover`, which answers or throws: the error that it is given, or another.
  public init(_ recover: @escaping @Sendable (_ request: HTTPRequest, _ error: TaskError) async throws -> HTTPResponse)
  {
    self.recover = recover
  }

  /// Passes the request on, and recovers where that fails for want of a network.
  /// Throws what `next` throws for any other reason, and what the closure throws.
  public func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
    do {
      return try await next(request)
    } catch let error as TaskError where error.isOffline {
      return try await recover(request, error)
    }
  }
}
