public import Errand
public import Tracing

/// Makes a span of kind `client` for each attempt, and sends its context along.
///
///     await shop.update {
///       $0.perCallSteps.append(TracedCalls())
///       $0.perAttemptSteps.append(TracedAttempts(of: shop))
///     }
///
/// The span is named after the method and has the attributes of OpenTelemetry's conventions: `http.request.method`,
/// `server.address`, `server.port`, `http.response.status_code`, `error.type`; and `http.request.resend_count` where
/// ``TracedCalls`` is installed too. It hangs below the span of the surrounding `ServiceContext`, and ends when the body
/// was read or released. Redirects are followed within it. It has no URL and no words of an error, for a step is not told
/// what of them its task hides; the server is named all the same. An attempt that the deadline of its call has ended counts
/// as `cancelled`, as a step sees it. A stream that its call ends while nobody reads it ends without an error.
///
/// Append it behind all steps that change the host of a request: it sees where the request goes as it is then.
///
/// The tracer's fields go to the remote's origin and to ``ServerConfiguration/trustedOrigins``, where
/// ``ServerConfiguration/propagatesTraces`` is on. A request that states a `traceparent` is left alone, and so is any
/// field that it has already. Those that are added count among the request's credentials: a redirect to another origin
/// takes none along, nor one within the remote that leaves the paths of its credentials, and recordings do not show them. That has a price: where a server has a cache and does not sign
/// requests in, responses to them are not stored.
public struct TracedAttempts: PerAttemptStep {
  private let tracer: (any Tracer)?
  private weak let server: Server?

  /// Makes spans by `tracer`: that of the surrounding task, or of the process, unless given.
  ///
  /// - Parameters:
  ///   - server: The server that has the step; it says where the tracer's fields may go, and is not held.
  ///   - tracer: The tracer.
  public init(of server: Server, tracer: (any Tracer)? = nil) {
    self.server = server
    self.tracer = tracer
  }

  /// Passes the request on within a span, which the body of the response ends.
  /// Throws what `next` throws.
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
    // Whether the app's request can be sent is not the tracer's to decide.
    for field in fields where !request.headers.contains(field.name) && HTTPHeaders([field]).firstInvalid == nil {
      request.headers.add(field.value, for: field.name)
      request.options.credentialHeaders.insert(field.name)
    }
    return request
  }
}
