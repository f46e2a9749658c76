/// The layer that sends requests over the network.
///
/// A transport knows nothing about tasks, servers, retries, cookies, caches or redirects. It sends the request once,
/// with the exceptions listed in ``TransferOptions/mayRepeat``. It returns as soon as the response head arrives, and
/// delivers the body at the reader's pace.
///
/// - If the surrounding task is cancelled, it promptly throws `CancellationError` and releases the connection.
/// - Every other error is a ``TaskError`` that says whether it is certain that the request was not sent.
/// - It enforces the timeouts `connect`, `firstByte`, `idle` and `attempt` of the request's options.
/// - It returns `true` from ``checksAddresses`` only if it never connects to an address that
///   ``TransferOptions/addressPolicy`` forbids.
public protocol Transport: Sendable {
  /// Whether the transport enforces a request's address policy. Defaults to `false`, in which case requests with a
  /// policy are not sent.
  var checksAddresses: Bool { get }

  /// Sends `request` and returns the response head with a streaming body.
  func send(_ request: HTTPRequest) async throws -> HTTPResponse

  /// The current connections, by ``Origin/description``. Empty by default.
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
      "the transport does not check the address that it connects to, which addressPolicy requires, so nothing is sent: use CurlTransport, or .any",
      phase: .preparing, wasNotSent: true)
  }
}

/// The number of connections to an origin.
public struct ConnectionCounts: Sendable, Hashable {
  /// All connections.
  public var open: Int
  /// The connections that are being established, until data is read from them or a request is written.
  public var connecting: Int
  /// The connections that carry at least one exchange.
  public var busy: Int

  /// Creates counts. Each defaults to 0.
  public init(open: Int = 0, connecting: Int = 0, busy: Int = 0) {
    (self.open, self.connecting, self.busy) = (open, connecting, busy)
  }

  /// The connections that are waiting to be reused.
  public var idle: Int { max(0, open - connecting - busy) }

  mutating func add(_ other: ConnectionCounts) {
    open += other.open
    connecting += other.connecting
    busy += other.busy
  }
}

/// The version of HTTP that a transport requests.
public enum HTTPVersionPreference: Sendable, Hashable {
  /// HTTP/2 if the TLS server offers it (ALPN), otherwise HTTP/1.1.
  case automatic
  /// HTTP/1.1 only.
  case http1
  /// HTTP/2 without negotiation, including over plain http. Use it only if the server is known to support HTTP/2.
  case http2PriorKnowledge
  /// HTTP/3 if the https server answers over UDP, otherwise the same as ``automatic`` (RFC 9114 §3.1).
  ///
  /// HTTP/3 is not used through a proxy or over a Unix socket. Each new connection is tried over UDP first, and over
  /// TCP as well if UDP fails or 200 ms have passed. The first connection to be established carries the request;
  /// ``HTTPResponse/version`` contains its version. If the transport doesn't support HTTP/3, this is the same as
  /// ``automatic``.
  case http3
}
