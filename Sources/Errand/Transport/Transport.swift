/// The carrier of requests: the one place that does network I/O.
///
/// A transport knows nothing of tasks, servers, retries, cookies, caches or redirects. It sends the request once
/// (``TransferOptions/mayRepeat`` names the exceptions), returns as soon as the head of the response is there, and lets
/// the body come at the reader's pace.
///
/// - It throws `CancellationError` when the surrounding task is cancelled, promptly, and releases the connection.
/// - Everything else that it throws is a ``TaskError`` that says whether the request was surely not sent.
/// - It holds the timers `connect`, `firstByte`, `idle` and `attempt` of the request's options.
/// - One that connects to no address that ``TransferOptions/addressPolicy`` forbids says so: ``checksAddresses``.
public protocol Transport: Sendable {
  /// True when it heeds the address policy of a request; false unless stated, and nothing is sent that has one.
  var checksAddresses: Bool { get }

  /// Sends `request` and returns the head of the response, its body as it comes.
  func send(_ request: HTTPRequest) async throws -> HTTPResponse

  /// The connections as they are now, by origin as ``Origin/description`` writes it; none unless stated.
  func connections() async -> [String: ConnectionCounts]
}

extension Transport {
  /// None: they are not counted.
  public func connections() async -> [String: ConnectionCounts] { [:] }

  /// False.
  public var checksAddresses: Bool { false }
}

extension TaskError {
  /// A transport that does not know where it connects to cannot heed a policy.
  package static var cannotCheckAddresses: TaskError {
    TaskError(
      .transportUnavailable,
      "the transport does not check the address that it connects to, as addressPolicy demands, so nothing is sent: use CurlTransport, or .any",
      phase: .preparing, isSurelyNotSent: true)
  }
}

/// The numbers of connections to an origin.
public struct ConnectionCounts: Sendable, Hashable {
  /// All of them.
  public var open: Int
  /// Those that are being made, until something was read from them or a request was written.
  public var connecting: Int
  /// Those that carry an exchange, or several.
  public var busy: Int

  /// Counts, of which those that are not given are 0.
  public init(open: Int = 0, connecting: Int = 0, busy: Int = 0) {
    (self.open, self.connecting, self.busy) = (open, connecting, busy)
  }

  /// Those that wait to be used again.
  public var idle: Int { max(0, open - connecting - busy) }

  /// Adds the numbers of others.
  mutating func add(_ other: ConnectionCounts) {
    open += other.open
    connecting += other.connecting
    busy += other.busy
  }
}

/// The version of HTTP that a transport asks for.
public enum HTTPVersionPreference: Sendable, Hashable {
  /// HTTP/2 where a TLS server offers it (ALPN), else HTTP/1.1.
  case automatic
  /// HTTP/1.1 only.
  case http1
  /// HTTP/2 without asking, also over plain http: the server must be known to speak it.
  case http2PriorKnowledge
  /// HTTP/3 where an https server answers over UDP, else as ``automatic`` (RFC 9114 §3.1).
  ///
  /// Without a proxy or a Unix socket only. Each new connection is tried over UDP, and over TCP once that fails or 200 ms have
  /// passed; the first that stands carries the request, and ``HTTPResponse/version`` says which it was. Where the transport
  /// lacks HTTP/3, this is ``automatic``.
  case http3
}
