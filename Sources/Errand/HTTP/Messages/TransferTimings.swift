/// The timings and byte counts of a transfer. The timings are durations since the start of the transfer.
public struct TransferTimings: Codable, Sendable, Hashable {
  package struct Parts: Codable, Sendable, Hashable {
    package var nameLookup: Duration = .zero
    package var connect: Duration = .zero
    package var secureConnect: Duration = .zero
    package var requestStart: Duration = .zero
    package var firstByte: Duration = .zero
    package var lastByte: Duration = .zero
    package var bytesSent: Int64 = 0
    package var bytesReceived: Int64 = 0
    package var bytesDecoded: Int64 = 0
    package var wasResent = false
    package var remoteAddress = ""
    package var remotePort = 0

    package init() {}
  }

  private final class Storage: Sendable {
    let parts: Parts

    init(_ parts: Parts) { self.parts = parts }
  }

  // Boxed, because timings take up 150 bytes and are passed around often.
  private var storage: Storage

  /// All values. Change them together, because each separate change copies every value.
  package var parts: Parts {
    get { storage.parts }
    set { storage = Storage(newValue) }
  }

  package init(_ parts: Parts) { storage = Storage(parts) }

  /// Creates timings that are all zero.
  public init() { self.init(Parts()) }

  /// The time when the name was resolved.
  public var nameLookup: Duration {
    get { storage.parts.nameLookup }
    set { parts.nameLookup = newValue }
  }

  /// The time when the connection was established. Equals `nameLookup` for a reused connection.
  public var connect: Duration {
    get { storage.parts.connect }
    set { parts.connect = newValue }
  }

  /// The time when the TLS handshake completed. Zero without TLS.
  public var secureConnect: Duration {
    get { storage.parts.secureConnect }
    set { parts.secureConnect = newValue }
  }

  /// The time just before the request was sent.
  public var requestStart: Duration {
    get { storage.parts.requestStart }
    set { parts.requestStart = newValue }
  }

  /// The time when the first byte of the final response arrived, or zero if no byte arrived. Interim responses (1xx)
  /// don't count.
  public var firstByte: Duration {
    get { storage.parts.firstByte }
    set { parts.firstByte = newValue }
  }

  /// The time when the last byte arrived.
  public var lastByte: Duration {
    get { storage.parts.lastByte }
    set { parts.lastByte = newValue }
  }

  /// The number of header and body bytes sent.
  public var bytesSent: Int64 {
    get { storage.parts.bytesSent }
    set { parts.bytesSent = newValue }
  }

  /// The number of header and body bytes received, before decoding.
  public var bytesReceived: Int64 {
    get { storage.parts.bytesReceived }
    set { parts.bytesReceived = newValue }
  }

  /// The number of body bytes after decoding.
  public var bytesDecoded: Int64 {
    get { storage.parts.bytesDecoded }
    set { parts.bytesDecoded = newValue }
  }

  /// Whether the request was resent because its pooled connection was stale, or because the server rejected the request
  /// without processing it.
  public var wasResent: Bool {
    get { storage.parts.wasResent }
    set { parts.wasResent = newValue }
  }

  /// The IP address of the peer, if known.
  public var remoteAddress: String {
    get { storage.parts.remoteAddress }
    set { parts.remoteAddress = newValue }
  }

  /// The port of the peer, or 0 if unknown.
  public var remotePort: Int {
    get { storage.parts.remotePort }
    set { parts.remotePort = newValue }
  }
}

extension TransferTimings {
  /// Decodes the timings.
  public init(from decoder: any Decoder) throws { self.init(try Parts(from: decoder)) }

  /// Encodes the timings.
  public func encode(to encoder: any Encoder) throws { try parts.encode(to: encoder) }

  /// Whether all values are equal.
  public static func == (one: TransferTimings, other: TransferTimings) -> Bool { one.parts == other.parts }

  /// Hashes all values.
  public func hash(into hasher: inout Hasher) { parts.hash(into: &hasher) }
}

extension TransferTimings: CustomReflectable {
  /// A mirror that shows all values by name.
  public var customMirror: Mirror {
    Mirror(self, children: Array(Mirror(reflecting: parts).children), displayStyle: .struct)
  }
}

extension TransferTimings {
  package var withoutAddress: TransferTimings {
    var parts = parts
    (parts.remoteAddress, parts.remotePort) = ("", 0)
    return TransferTimings(parts)
  }
}
