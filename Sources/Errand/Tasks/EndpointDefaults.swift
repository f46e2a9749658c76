/// What the endpoints of one provider have in common; an endpoint's own modifiers go before it.
public struct EndpointDefaults: Sendable {
  /// The server to talk to; nil is ``Server/default``.
  public var server: Server?
  /// Header fields that go before those of the server.
  public var headers: HTTPHeaders
  /// How long one attempt may take.
  public var timeout: Duration
  /// What is done about failures.
  public var retryPolicy: RetryPolicy

  /// Nothing but what is given.
  public init(
    server: Server? = nil, headers: HTTPHeaders = [:], timeout: Duration = .inherited,
    retryPolicy: RetryPolicy = .inherited
  ) {
    self.server = server
    self.headers = headers
    self.timeout = timeout
    self.retryPolicy = retryPolicy
  }
}
