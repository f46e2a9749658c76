import ErrandFoundation

/// A sign-in with a code that the user enters on another device (RFC 8628).
struct DeviceSignIn: Sendable {
  let endpoint: TokenEndpoint
  let context: RefreshContext

  /// Shows the code and polls for the token until the user has signed in or the code expires.
  /// Throws ``OAuth2/Refusal`` if the user denies access, ``TaskError`` if the code expires, an error from `show`, or
  /// `CancellationError`.
  func token(at url: URL, _ show: @Sendable (OAuth2.DevicePrompt) async throws -> Void) async throws -> AccessToken {
    let code = try await endpoint.deviceCode(at: url, context)
    let end = context.clock.now + code.prompt.lifetime
    try await show(code.prompt)
    // RFC 8628 §3.2: defaults to five seconds.
    var interval = Duration.seconds(max(1, code.interval ?? 5))
    let grant: HTTPQuery = [
      "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": code.code,
    ]
    while context.clock.now + interval <= end {
      try await context.clock.sleep(for: interval)
      do {
        return try await endpoint.token(grant, isRepeatable: nil, context)
      } catch let refusal as OAuth2.Refusal {
        guard let longer = Self.interval(after: refusal, interval) else { throw refusal }
        interval = longer
      } catch let error as TaskError where error.isRetryable || error.status.map(Self.mayPass) ?? false {
        interval *= 2  // RFC 8628 §3.5: poll less often if connections fail
      }
    }
    throw TaskError(
      .signInRequired,
      "the device code was not entered within \(code.prompt.lifetime.formattedSeconds): request a new one",
      phase: .authenticating)
  }

  private static func mayPass(_ status: HTTPStatus) -> Bool { RetryableStatuses.standard.contains(status) }

  /// Returns the polling interval after a refusal, or `nil` to stop polling.
  static func interval(after refusal: OAuth2.Refusal, _ interval: Duration) -> Duration? {
    switch refusal.code {
    case "authorization_pending": interval
    case "slow_down": interval + .seconds(5)  // RFC 8628 §3.5
    default: nil
    }
  }
}
