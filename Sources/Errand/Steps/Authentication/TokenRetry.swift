/// How a failed token request is retried.
struct TokenRetry: Sendable {
  /// The policy, or `.inherited` for the server's.
  var policy = RetryPolicy.inherited
  /// Whether the request can be resent although the server may have processed it.
  let isRepeatable: Bool

  func idempotency(of request: HTTPRequest) -> Idempotency {
    if isRepeatable { return .safeToRepeat }
    // The app's own token request may be a GET, but a code or refresh token is still sent once.
    return request.method.isIdempotent ? .neverRepeat : .automatic
  }

  /// Whether a status says that the server did not process the request.
  static func isUnprocessed(_ status: HTTPStatus?) -> Bool { status == 429 || status == 503 }
}
