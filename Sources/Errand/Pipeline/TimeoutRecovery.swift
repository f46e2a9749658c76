/// A step that gives an answer, or another error, where a timer fired.
///
///     configuration.perCallSteps.append(TimeoutRecovery { request, error in
///       throw ShopIsSlow(timer: error.timer)
///     })
///
/// It is asked once the call has given up: all attempts have failed, the last with an error that
/// ``TaskError/isTimeout``. ``TaskError/timer`` says which timer it was. The deadline of the call itself,
/// ``Timeouts/call``, ends this step too and cannot be recovered from here.
public struct TimeoutRecovery: PerCallStep {
  private let recover: @Sendable (HTTPRequest, TaskError) async throws -> HTTPResponse

  /// A step that asks `recover`, which answers or throws: the error that it is given, or another.
  public init(_ recover: @escaping @Sendable (_ request: HTTPRequest, _ error: TaskError) async throws -> HTTPResponse)
  {
    self.recover = recover
  }

  /// Passes the request on, and recovers where a timer ends that.
  /// Throws what `next` throws for any other reason, and what the closure throws.
  public func send(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
    do {
      return try await next(request)
    } catch let error as TaskError where error.isTimeout && error.timer != .call {
      return try await recover(request, error)
    }
  }
}
