/// The times at which the parts of one transfer were done, counted from its start, and the bytes over the wire.
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

  // Boxed, for they pass through many hands, and are 150 bytes.
  private var storage: Storage

  /// All parts at once: each change of one is a copy of all.
  var parts: Parts {
    get { storage.parts }
    set { storage = Storage(newValue) }
  }

  package init(_ parts: Parts) { storage = Storage(parts) }

  /// All zero.
  public init() { self.init(Parts()) }

  /// The name was looked up.
  public var nameLookup: Duration {
    get { storage.parts.nameLookup }
    set { parts.nameLookup = newValue }
  }

  /// The connection was established; equal to `nameLookup` on a reused one.
  public var connect: Duration {
    get { storage.parts.connect }
    set { parts.connect = newValue }
  }

  /// The TLS handshake was done; zero without TLS.
  public var secureConnect: Duration {
    get { storage.parts.secureConnect }
    set { parts.secureConnect = newValue }
  }

  /// The request was about to be sent.
  public var requestStart: Duration {
    get { storage.parts.requestStart }
    set { parts.requestStart = newValue }
  }

  /// The first byte of the final response came; zero if none did. Interim responses (1xx) do not count.
  public var firstByte: Duration {
    get { storage.parts.firstByte }
    set { parts.firstByte = newValue }
  }

  /// The last byte came.
  public var lastByte: Duration {
    get { storage.parts.lastByte }
    set { parts.lastByte = newValue }
  }

  /// Bytes of header and body sent.
  public var bytesSent: Int64 {
    get { storage.parts.bytesSent }
    set { parts.bytesSent = newValue }
  }

  /// Bytes of header and body received, before decoding.
  public var bytesReceived: Int64 {
    get { storage.parts.bytesReceived }
    set { parts.bytesReceived = newValue }
  }

  /// Bytes of the body as it was handed on, after decoding.
  public var bytesDecoded: Int64 {
    get { storage.parts.bytesDecoded }
    set { parts.bytesDecoded = newValue }
  }

  /// Whether the request was resent: its pooled connection was stale, or the server refused it without processing it.
  public var wasResent: Bool {
    get { storage.parts.wasResent }
    set { parts.wasResent = newValue }
  }

  /// The other end's address, as far as known.
  public var remoteAddress: String {
    get { storage.parts.remoteAddress }
    set { parts.remoteAddress = newValue }
  }

  /// The other end's port; 0 where it is not known.
  public var remotePort: Int {
    get { storage.parts.remotePort }
    set { parts.remotePort = newValue }
  }
}

extension TransferTimings {
  /// Decodes all parts.
  public init(from decoder: any Decoder) throws { self.init(try Parts(from: decoder)) }

  /// Encodes all parts.
  public func encode(to encoder: any Encoder) throws { try parts.encode(to: encoder) }

  /// True where all parts are equal.
  public static func == (one: TransferTimings, other: TransferTimings) -> Bool { one.parts == other.parts }

  /// Hashes all parts.
  public func hash(into hasher: inout Hasher) { parts.hash(into: &hasher) }
}

extension TransferTimings: CustomReflectable {
  /// All parts, by name.
  public var customMirror: Mirror {
    Mirror(self, children: Array(Mirror(reflecting: parts).children), displayStyle: .struct)
  }
}

extension TransferTimings {
  /// The same without the other end's address, where that is not to be shown.
  var withoutAddress: TransferTimings {
    var parts = parts
    (parts.remoteAddress, parts.remotePort) = ("", 0)
    return TransferTimings(parts)
  }
}
