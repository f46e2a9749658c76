public import Errand
public import Tracing

/// Creates a span of kind `client` for each attempt and propagates its context.
///
///     await shop.update {
///       $0.perCallSteps.append(TracedCalls())
///       $0.perAttemptSteps.append(TracedAttempts(of: shop))
///     }
///
/// The span is named after the method and has the attributes from OpenTelemetry's conventions: `http.request.method`,
/// `server.address`, `server.port`, `http.response.status_code`, `error.type`, and with ``TracedCalls`` also
/// `http.request.resend_count`. Its parent is the span of the surrounding `ServiceContext`. It ends when the body has
/// been read or released, and includes redirects. It has no URL and no error message, because a step does not know
/// which secrets its task hides. The server's address is always included. An attempt ended by the call's deadline
/// counts as `cancelled`. If a call ends a stream that is not being read, the span ends without an error.
///
/// Append this step after all steps that change a request's host.
///
/// The tracer's headers are sent to the remote's origin and to ``ServerConfiguration/trustedOrigins`` if
/// ``ServerConfiguration/propagatesTraces`` is on. A request with its own `traceparent` is not changed, and existing
/// headers are kept. Added headers count as credentials: they are dropped by redirects to other origins or outside the
/// credentials' paths, and recordings hide them. As a consequence, a server with a cache but without authentication
/// does not store responses to such requests.
public struct TracedAttempts: PerAttemptStep {
  private let tracer: (any Tracer)?
  private weak let server: Server?

  /// Creates a step that starts spans with `tracer`. Defaults to the tracer of the surrounding task or the process.
  ///
  /// - Parameters:
  ///   - server: The server that uses this step. Its settings determine where the tracer's headers may be sent. It is
  ///     not retained.
  ///   - tracer: The tracer.
  public init(of server: Server, tracer: (any Tracer)? = nil) {
    self.server = server
    self.tracer = tracer
  }

  /// Sends the request within a span that ends with the response body.
  ///
  /// Throws any error thrown by `next`.
  public func send(_ request: Errand.HTTPRequest, next: Next) async throws -> Errand.HTTPResponse {
    let tracer = tracer ?? InstrumentationSystem.tracer
    let span = tracer.startAnySpan(request.method.conventionalName ?? "HTTP", ofKind: .client)
    span.note(request.method)
    if let origin = Origin(request.url) { span.note(origin) }
    if let number = await request.options.context[AttemptNumbers.Key.self]?.next(), number > 1 {
      span.attributes["http.request.resend_count"] = number - 1
    }
    do {
      let traced = mayCarryTraces(request) ? Self.adding(span.context, of: tracer, to: request) : request
      var response = try await ServiceContext.withValue(span.context) { try await next(traced) }
      span.note(response.status)
      response.body = HTTPResponseBody(TracedBody(response.body, span))
      return response
    } catch {
      span.note(error)
      span.end()
      throw error
    }
  }

  private func mayCarryTraces(_ request: Errand.HTTPRequest) -> Bool {
    guard let settings = server?.configuration, settings.propagatesTraces, !request.headers.contains(.traceparent),
      let origin = Origin(request.url)
    else { return false }
    return settings.hasHome(at: origin)
  }

  private static func adding(
    _ context: ServiceContext, of tracer: any Tracer, to request: Errand.HTTPRequest
  ) -> Errand.HTTPRequest {
    var fields = HTTPHeaders()
    tracer.inject(context, into: &fields, using: HeaderInjector())
    var request = request
    // An invalid tracer header must not fail the app's request.
    for field in fields where !request.headers.contains(field.name) && HTTPHeaders([field]).firstInvalid == nil {
      request.headers.add(field.value, for: field.name)
      request.options.credentialHeaders.insert(field.name)
    }
    return request
  }
}
