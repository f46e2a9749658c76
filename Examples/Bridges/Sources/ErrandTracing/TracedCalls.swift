public import Errand
public import Tracing

/// Makes a span of kind `internal` around each call, below which its attempts are, and numbers them for ``TracedAttempts``.
///
/// It has the method, the status and the type of an error. A step is not told the name of the task: the span is called
/// `HTTP call`. It lasts until there is a response; of a stream, until its head. Decoding and verifying come after it.
public struct TracedCalls: PerCallStep {
  private let tracer: (any Tracer)?

  /// Makes spans by `tracer`: that of the surrounding task, or of the process, unless given.
  public init(tracer: (any Tracer)? = nil) { self.tracer = tracer }

  /// Passes the request on within a span.
  /// Throws what `next` throws.
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
