public import ErrandFoundation

/// Authenticates requests: adds a token to each request and gets a new token when the old one has expired.
///
///     struct SessionKey: Authenticator {
///       func apply(_ token: String, to request: inout HTTPRequest) { request.headers["X-Session"] = token }
///       func refresh(
///         _ token: String?, after response: HTTPResponse?, _ context: RefreshContext
///       ) async throws -> String? { try await login() }
///     }
///     await shop.update { $0.authentication = .custom(SessionKey()) }
///
/// Errand decides *when* to refresh. It keeps the current token and calls ``refresh(_:after:_:)`` before the token
/// expires and after a 401, once for all waiting calls. Calls made by ``refresh(_:after:_:)`` are not authenticated by
/// this authenticator, so they can't deadlock.
///
/// For Basic, Digest, API keys, bearer tokens and OAuth 2, see ``Authentication``.
public protocol Authenticator: Sendable {
  /// The credential that requests carry, such as a token with its expiry date, a session identifier or a key.
  associatedtype Token: Sendable

  /// Whether ``refresh(_:after:_:)`` can return another token. If not, a 401 is returned as is. Defaults to `true`.
  var isRefreshable: Bool { get }

  /// Returns the key of a request's token. Each key has its own token, which is refreshed separately and kept until
  /// ``Authentication/forget()``. Requests with different keys don't share cached responses. Can be called several times
  /// for a request, before and after it is authenticated. Returns `""` by default, so all requests share a token.
  func tokenKey(for request: HTTPRequest) -> String

  /// Returns the initial token. Called once for each key, before its first request. If it returns `nil`, which is the
  /// default, ``refresh(_:after:_:)`` gets the first token.
  /// Throws an error if the token can't be read. Calls that need the token fail with this error.
  func storedToken() async throws -> Token?

  /// Returns the state of a token at a point in time. Returns `.good` by default, so the token is replaced only after a
  /// 401.
  func freshness(of token: Token, at now: Date) -> TokenFreshness

  /// Sets the header fields that carry the token. They are treated as credentials: they are not sent to other origins
  /// and are always redacted. After a refresh, this method is also called with a trial request, so that a token that
  /// can't be sent is not kept. Throws an error if the token can't be sent.
  func apply(_ token: Token, to request: inout HTTPRequest) throws

  /// Gets a new token.
  ///
  /// - Parameters:
  ///   - token: The token that is expiring or was rejected, or `nil` for the first token.
  ///   - response: The head of the response that rejected the token, or that rejected a request without a token. `nil`
  ///     if the token is expiring, or if no request has been sent.
  ///   - context: Sends requests and provides the current time and the token's key.
  /// - Returns: The new token, or `nil` if none is available. In that case, requests continue with their current token,
  ///   or without a token.
  /// - Throws: An error that all waiting calls receive, or `CancellationError` if all of these calls have been
  ///   cancelled.
  func refresh(_ token: Token?, after response: HTTPResponse?, _ context: RefreshContext) async throws -> Token?

  /// Whether a response rejects the token, or a request without a token. Only its head is available. Defaults to `true`
  /// for a 401.
  func isAuthenticationFailure(_ response: HTTPResponse) -> Bool

  /// Removes the tokens from persistent storage, such as a keychain. Does nothing by default. Calls made by this method
  /// are not authenticated by this authenticator.
  /// Throws an error if a token can't be removed.
  func forget() async throws
}

extension Authenticator {
  /// Returns `true`.
  public var isRefreshable: Bool { true }
  /// Returns `""`.
  public func tokenKey(for request: HTTPRequest) -> String { "" }
  /// Returns `nil`.
  public func storedToken() async throws -> Token? { nil }
  /// Returns `.good`.
  public func freshness(of token: Token, at now: Date) -> TokenFreshness { .good }
  /// Returns `true` for a 401.
  public func isAuthenticationFailure(_ response: HTTPResponse) -> Bool { response.status == .unauthorized }
  /// Does nothing.
  public func forget() async throws {}
}

/// The state of a token at a point in time.
public enum TokenFreshness: Sendable, Hashable {
  /// The token can be sent.
  case good
  /// The token is about to expire. It is refreshed before it is sent. If the refresh fails, the old token is sent.
  case expiring
  /// The token has expired and is no longer sent.
  case ended
}

/// The clock and transport available to a refresh.
public struct RefreshContext: Sendable {
  /// Sends a token request. The closure returns the longest time that one of the waiting calls has left: `nil` without a
  /// limit, zero if no call is waiting.
  typealias Transmission =
    @Sendable (HTTPRequest, TokenRetry?, @escaping @Sendable () -> Duration?) async throws -> HTTPResponse

  private let dates: WallClock
  private let transmit: Transmission
  private let complaint: @Sendable (String) -> Void
  let redaction: Redaction
  /// The key of the token, from ``Authenticator/tokenKey(for:)``.
  public internal(set) var tokenKey = ""
  /// Returns the longest time that one of the waiting calls has left: `nil` without a limit, zero if none is waiting.
  var remaining: @Sendable () -> Duration? = { nil }

  init(
    _ dates: WallClock, transmit: @escaping Transmission,
    complaint: @escaping @Sendable (String) -> Void, redaction: Redaction
  ) {
    self.dates = dates
    self.transmit = transmit
    self.complaint = complaint
    self.redaction = redaction
  }

  /// The clock of the call that started the refresh.
  public var clock: CallClock { dates.clock }

  /// The current time, according to the call's clock.
  public var now: Date { dates.now }

  /// Sends a request with the server's transport, limits and retry policy. Returns the response regardless of its
  /// status, with its complete body, which is limited to 1 MiB. A POST is not retried if the server may have received
  /// it.
  ///
  /// The request is sent as is, without the server's header fields, hooks, steps or authentication. It does not appear
  /// in echoes or recordings.
  ///
  /// Throws ``TaskError``, or `CancellationError`.
  public func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await transmit(request, nil, remaining) }

  func send(_ request: HTTPRequest, _ retry: TokenRetry?) async throws -> HTTPResponse {
    try await transmit(request, retry, remaining)
  }

  func complain(_ text: String) { complaint(text) }
}
