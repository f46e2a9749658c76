/// Authenticates requests with its token.
protocol RequestSigner: Sendable, AnyObject {
  /// Whether the app has forgotten the token, so that no request can be authenticated any more.
  var isClosed: Bool { get }
}
