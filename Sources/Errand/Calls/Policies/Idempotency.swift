/// Whether a request can be sent more than once.
public enum Idempotency: Sendable, Hashable {
  /// The request can be repeated if its method is idempotent (RFC 9110 §9.2.2) or it has an `Idempotency-Key`.
  case automatic
  /// The request can be repeated, regardless of its method.
  case safeToRepeat
  /// The request is never repeated, regardless of its method, unless it was not sent or the server has refused to
  /// process it.
  case neverRepeat
  /// The request can be repeated. Every attempt sends the same `Idempotency-Key`, which is generated for the call.
  case key
}

extension Idempotency {
  /// Whether a request that may have reached the server can be sent again.
  package func allowsRepetition(of method: HTTPMethod, _ headers: HTTPHeaders) -> Bool {
    switch self {
    case .safeToRepeat: true
    case .neverRepeat: false
    // Check the header for `.key` too, because a step may have removed it. An empty key is useless.
    case .automatic, .key: method.isIdempotent || headers[.idempotencyKey].map { !$0.isEmpty } ?? false
    }
  }
}
