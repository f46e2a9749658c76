public import Errand
public import Tracing

/// Creates a span of kind `internal` around each call, which is the parent of its attempts, and numbers the attempts
/// for ``TracedAttempts``.
///
/// The span has the method, the status and the error type. A step does not know the task's name, so the span is called
/// `HTTP call`. It ends with the response, or for a stream with the response's head. It does not include decoding and
/// verification.
public struct TracedCalls: PerCallStep {
  private let tracer: (any Tracer)?

  /// Creates a step that starts spans with `tracer`. Defaults to the tracer of the surrounding task or the process.
  public init(tracer: (any Tracer)? = nil) { self.tracer = tracer }

  /// Sends the request within a span.
  ///
  /// Throws any error thrown by `next`.
  public func send(_ request: Errand.HTTPRequest, next: Next) async throws -> Errand.HTTPResponse {
    let span = (tracer ?? InstrumentationSystem.tracer).startAnySpan("HTTP call", ofKind: .internal)
    defer { span.end() }
    span.note(request.method)
    var numbered = request
    numbered.options.context[AttemptNumbers.Key.self] = AttemptNumbers()
    do {
      let response = try await ServiceContext.withValue(span.context) { try await next(numbered) }
      span.note(response.status)
      return response
    } catch {
      span.note(error)
      throw error
    }
  }
}
