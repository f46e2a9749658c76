/// Whether a request may be sent twice.
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
