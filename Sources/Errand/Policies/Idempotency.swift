/// The rule for sending a request twice.
public enum Idempotency: Sendable, Hashable {
  /// As its method says (RFC 9110 §9.2.2), or when it carries an `Idempotency-Key`.
  case automatic
  /// It may.
  case safeToRepeat
  /// It may not, whatever its method says.
  case neverRepeat
  /// It may: every attempt carries the same `Idempotency-Key`, made for the call.
  case key
}

extension Idempotency {
  /// True when a request may reach the server twice.
  func allowsRepetition(of method: HTTPMethod, _ headers: HTTPHeaders) -> Bool {
    switch self {
    case .safeToRepeat: true
    case .neverRepeat: false
    // An empty key, or one that a step took out again, tells the server nothing.
    case .automatic, .key: method.isIdempotent || headers[.idempotencyKey].map { !$0.isEmpty } ?? false
    }
  }
}
