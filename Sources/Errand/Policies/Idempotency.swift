/// Whether a request can be sent more than once.
public enum Idempotency: Sendable, Hashable {
  /// If its method is idempotent (RFC 9110 §9.2.2), or if it has an `Idempotency-Key`.
  case automatic
  /// Always, whatever its method.
  case safeToRepeat
  /// Never, whatever its method.
  case neverRepeat
  /// Always. Every attempt carries the same `Idempotency-Key`, generated for the call.
  case key
}

extension Idempotency {
  /// Whether a request that may have reached the server can be sent again.
  func allowsRepetition(of method: HTTPMethod, _ headers: HTTPHeaders) -> Bool {
    switch self {
    case .safeToRepeat: true
    case .neverRepeat: false
    // The header is checked for `.key` too, because a step may have removed it. An empty key is useless.
    case .automatic, .key: method.isIdempotent || headers[.idempotencyKey].map { !$0.isEmpty } ?? false
    }
  }
}
