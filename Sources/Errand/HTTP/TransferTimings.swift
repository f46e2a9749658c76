/// The times at which the parts of one transfer were done, counted from its start, and the bytes over the wire.
public struct TransferTimings: Codable, Sendable, Hashable {
  /// The name was looked up.
  public var nameLookup: Duration = .zero
  /// The connection was established; equal to `nameLookup` on a reused one.
  public var connect: Duration = .zero
  /// The TLS handshake was done; zero without TLS.
  public var secureConnect: Duration = .zero
  /// The request was about to be sent.
  public var requestStart: Duration = .zero
  /// The first byte of the response came.
  public var firstByte: Duration = .zero
  /// The last byte came.
  public var lastByte: Duration = .zero
  /// Bytes of header and body sent.
  public var bytesSent: Int64 = 0
  /// Bytes of header and body received, before decoding.
  public var bytesReceived: Int64 = 0
  /// Bytes of the body as it was handed on, after decoding.
  public var bytesDecoded: Int64 = 0
  /// True when a pooled connection turned out dead and the request was sent once more on a fresh one.
  public var wasResent = false
  /// The other end's address, as far as known.
  public var remoteAddress = ""
  /// The other end's port; 0 where it is not known.
  public var remotePort = 0

  /// All zero.
  public init() {}
}
