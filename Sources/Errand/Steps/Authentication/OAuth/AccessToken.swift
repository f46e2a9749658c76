public import ErrandFoundation

/// An OAuth 2 access token with its refresh token (RFC 6749 §5.1).
public struct AccessToken: Sendable, Hashable, Codable {
  /// The token, as sent in requests.
  public var value: String
  /// The time at which the token was received.
  public var issued: Date
  /// The time at which the token expires, or `nil` if the server didn't specify a lifetime.
  public var expiry: Date?
  /// The refresh token, if any.
  public var refreshToken: String?
  /// The granted scopes, separated by spaces. `nil` if they are the same as the requested scopes.
  public var scope: String?

  /// Creates a token.
  public init(
    _ value: String, issued: Date, expiry: Date? = nil, refreshToken: String? = nil, scope: String? = nil
  ) {
    self.value = value
    self.issued = issued
    self.expiry = expiry
    self.refreshToken = refreshToken
    self.scope = scope
  }

  /// Returns `.expiring` if the token expires within `leeway`, or within half of its lifetime if that is shorter.
  func freshness(at now: Date, leeway: Duration) -> TokenFreshness {
    guard let expiry else { return .good }
    let left = expiry.timeIntervalSince(now)
    if left <= 0 { return .ended }
    return left <= min(leeway.inSeconds, expiry.timeIntervalSince(issued) / 2) ? .expiring : .good
  }
}

extension AccessToken: CustomStringConvertible {
  /// A description without secrets.
  public var description: String { "AccessToken(<redacted>)" }
}
