public import ErrandFoundation

/// A token of OAuth 2, with what renews it (RFC 6749 §5.1).
public struct AccessToken: Sendable, Hashable, Codable {
  /// The token as it is sent.
  public var value: String
  /// The time at which it was got.
  public var issued: Date
  /// The time at which it ends; nil where the server has not said.
  public var expiry: Date?
  /// The token that a new one is got with; nil without one.
  public var refreshToken: String?
  /// The scopes that were granted, separated by blanks; nil where they are those that were asked for.
  public var scope: String?

  /// A token by its parts.
  public init(
    _ value: String, issued: Date, expiry: Date? = nil, refreshToken: String? = nil, scope: String? = nil
  ) {
    self.value = value
    self.issued = issued
    self.expiry = expiry
    self.refreshToken = refreshToken
    self.scope = scope
  }

  /// The state of the token at a time: ageing for the last `leeway`, but not for more than half of its life.
  func freshness(at now: Date, leeway: Duration) -> TokenFreshness {
    guard let expiry else { return .good }
    let left = expiry.timeIntervalSince(now)
    if left <= 0 { return .ended }
    return left <= min(leeway.inSeconds, expiry.timeIntervalSince(issued) / 2) ? .ageing : .good
  }
}

extension AccessToken: CustomStringConvertible {
  /// Nothing that is secret.
  public var description: String { "AccessToken(<redacted>)" }
}
