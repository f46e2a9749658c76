/// How a transport is to carry one request: what is not part of the message itself.
public struct TransferOptions: Sendable {
  /// The limits of the transfer. A transport holds `connect`, `firstByte`, `idle` and `attempt`; the others are held
  /// before it is asked.
  public var timeouts = Timeouts()
  /// Whether the exchange may be repeated once on a fresh connection when a pooled one turns out dead. Without it a
  /// transport sends the request once, whatever happens.
  public var mayRepeat = false
  /// Whether the transport asks for a compressed body and hands on the decoded one.
  public var decodesBody = false
  /// Whether networks that cost money by the byte may be used; heeded by URLSession.
  public var allowsExpensiveNetworkAccess = true
  /// Whether networks in low-data mode may be used; heeded by URLSession.
  public var allowsConstrainedNetworkAccess = true
  /// Whether to wait for a network where there is none; heeded by URLSession.
  public var waitsForConnectivity = false
  /// Whether the body will be read at the reader's own pace, perhaps for a long time.
  public var isLongLived = false

  /// No limits, nothing repeated, the body as it was sent.
  public init() {}
}
