public import ErrandFoundation

/// A way to sign requests in: sets what proves who is asking, and gets a new proof when the old one has aged.
///
///     struct SessionKey: Authenticator {
///       func storedToken() async throws -> String? { nil }
///       func apply(_ token: String, to request: inout HTTPRequest) { request.headers["X-Session"] = token }
///       func refresh(_ token: String?, _ context: RefreshContext) async throws -> String? { try await login() }
///     }
///     await shop.update { $0.authentication = .custom(SessionKey()) }
///
/// An authenticator decides nothing about *when*. Errand keeps the token and its version, and asks for another before it
/// ends and after a 401: once, however many calls wait for it. Calls that ``refresh(_:_:)`` makes are not signed in by this
/// authenticator, so that they cannot wait for themselves.
///
/// Basic, bearer tokens and OAuth 2 are there already: see ``Authentication``.
public protocol Authenticator: Sendable {
  /// The proof that requests carry: a token with its end, a session, a key.
  associatedtype Token: Sendable

  /// True where ``refresh(_:_:)`` may give another token. Where it never does, a 401 is the answer. True unless stated.
  var isRefreshable: Bool { get }

  /// The token to begin with; asked for once, before the first request. With nil, ``refresh(_:_:)`` gets the first one.
  /// Throws what keeps it from being read; the calls that need it fail with that.
  func storedToken() async throws -> Token?

  /// The state of a token at a time. `.good` unless stated: it is replaced after a 401.
  func freshness(of token: Token, at now: Date) -> TokenFreshness

  /// Sets the header fields that carry a token. Those that it sets are credentials from then on: they stay with the origin
  /// of the request, and nothing shows them. Called once more for a new token: one that cannot be sent is not kept.
  /// Throws where the token cannot be sent.
  func apply(_ token: Token, to request: inout HTTPRequest) throws

  /// Gets another token.
  ///
  /// - Parameters:
  ///   - token: The one that has aged or was refused; nil where there was none.
  ///   - context: What a refresh may use: a way to send, the time.
  /// - Returns: The new token; nil where there is none, and requests go on with what they have.
  /// - Throws: What all calls that wait for the token fail with. `CancellationError` when the last of them was cancelled.
  func refresh(_ token: Token?, _ context: RefreshContext) async throws -> Token?

  /// True when the head of a response says that the token was refused. A 401 unless stated.
  func isAuthenticationFailure(_ response: HTTPResponse) -> Bool

  /// Forgets whatever is kept of the token beyond this process's memory. Nothing unless stated. Calls that it makes are not signed in
  /// by this authenticator.
  /// Throws what keeps it from being forgotten.
  func forget() async throws
}

extension Authenticator {
  /// True.
  public var isRefreshable: Bool { true }
  /// `.good`.
  public func freshness(of token: Token, at now: Date) -> TokenFreshness { .good }
  /// True for a 401.
  public func isAuthenticationFailure(_ response: HTTPResponse) -> Bool { response.status == .unauthorized }
  /// Does nothing.
  public func forget() async throws {}
}

/// The state of a token at a time.
public enum TokenFreshness: Sendable, Hashable {
  /// It may be sent.
  case good
  /// It is near its end: another is got before it is sent. Where that fails it may still be sent.
  case ageing
  /// It has ended: it is not sent any more.
  case ended
}

/// The means of a refresh.
public struct RefreshContext: Sendable {
  private let dates: DatedClock
  private let transmit: @Sendable (HTTPRequest) async throws -> HTTPResponse
  private let complaint: @Sendable (String) -> Void
  /// Hides secrets in what an error says of a response.
  let redaction: Redaction

  init(
    _ dates: DatedClock, transmit: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse,
    complaint: @escaping @Sendable (String) -> Void, redaction: Redaction
  ) {
    self.dates = dates
    self.transmit = transmit
    self.complaint = complaint
    self.redaction = redaction
  }

  /// The clock of the call that began it.
  public var clock: CallClock { dates.clock }

  /// The present time, by the clock of the call.
  public var now: Date { dates.now }

  /// Sends a request by the transport of the server, with its limits and its retry policy, and returns the response with
  /// all of its body, up to 1 MiB, whatever its status is. A POST is not repeated once the remote may have seen it.
  ///
  /// The request goes as it is: without the server's header fields, hooks, steps and authenticators. Echoes and recordings
  /// show nothing of it.
  ///
  /// - Parameter request: The request.
  /// - Returns: The response; its body can be read.
  /// - Throws: ``TaskError``, or `CancellationError`.
  public func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await transmit(request) }

  /// Writes a line to the log of the server.
  func complain(_ text: String) { complaint(text) }
}
