/// The layer that sends requests over the network.
///
/// A transport knows nothing about tasks, servers, retries, cookies, caches or redirects. It sends the request once,
/// with the exceptions listed in ``TransferOptions/mayRepeat``. It returns as soon as the response head arrives and
/// delivers the body at the reader's pace.
///
/// - If the surrounding task is cancelled, the transport promptly throws `CancellationError` and releases the
///   connection.
/// - Every other error is a ``TaskError`` that says whether the request is known not to have been sent.
/// - The transport enforces the timeouts `connect`, `firstByte`, `idle` and `attempt` in the request's options.
/// - The transport returns `true` from ``checksAddresses`` only if it never connects to an address that
///   ``TransferOptions/addressPolicy`` forbids.
public protocol Transport: Sendable {
  /// Whether the transport enforces a request's address policy. Defaults to `false`, in which case requests with a
  /// policy are not sent.
  var checksAddresses: Bool { get }

  /// Sends `request` and returns the response head with a streaming body.
  func send(_ request: HTTPRequest) async throws -> HTTPResponse

  /// Returns the number of current connections to each origin, keyed by ``Origin/description``. The default
  /// implementation returns an empty dictionary.
  func connections() async -> [String: ConnectionCounts]
}

extension Transport {
  /// Returns an empty dictionary.
  public func connections() async -> [String: ConnectionCounts] { [:] }

  /// Always `false`.
  public var checksAddresses: Bool { false }
}

extension TaskError {
  /// The error for a request with an address policy, if the transport can't enforce it.
  package static var cannotCheckAddresses: TaskError {
    TaskError(
      .transportUnavailable,
      "the request was not sent because the transport cannot enforce addressPolicy: use CurlTransport, or set addressPolicy to .any",
      phase: .preparing, wasNotSent: true)
  }
}

/// The numbers of connections to an origin, by state.
public struct ConnectionCounts: Sendable, Hashable {
  /// The number of all connections.
  public var open: Int
  /// The number of connections that are being established. A connection counts as established once data is read from it
  /// or a request is written.
  public var connecting: Int
  /// The number of connections that carry at least one exchange.
  public var busy: Int

  /// Creates counts. Each defaults to 0.
  public init(open: Int = 0, connecting: Int = 0, busy: Int = 0) {
    (self.open, self.connecting, self.busy) = (open, connecting, busy)
  }

  /// The number of connections that are waiting to be reused.
  public var idle: Int { max(0, open - connecting - busy) }

  mutating func add(_ other: ConnectionCounts) {
    open += other.open
    connecting += other.connecting
    busy += other.busy
  }
}

/// The version of HTTP that a transport requests.
public enum HTTPVersionPreference: Sendable, Hashable {
  /// HTTP/2 if the server offers it in the TLS handshake (ALPN), otherwise HTTP/1.1.
  case automatic
  /// HTTP/1.1 only.
  case http1
  /// HTTP/2 without negotiation, including over plain http. Use it only if the server is known to support HTTP/2.
  case http2PriorKnowledge
  /// HTTP/3 if the https server responds over UDP, otherwise the same as ``automatic`` (RFC 9114 §3.1).
  ///
  /// HTTP/3 is not used through a proxy or over a Unix socket. A new connection is first attempted over UDP, and also
  /// over TCP if UDP fails or has not succeeded after 200 ms. The connection that is established first carries the
  /// request, and ``HTTPResponse/version`` contains its HTTP version. If the transport doesn't support HTTP/3, this is
  /// the same as ``automatic``.
  case http3
}
