extension Duration {
  /// No limit, as a value: `shop.defaultTimeout = .unlimited`.
  public static let unlimited = Duration(secondsComponent: .max, attosecondsComponent: 0)
}

/// The time limits for the parts of a call. Nil is no limit; in a task's, the server's. `.unlimited` is none in either.
///
/// A limit of zero or less is refused: calls fail with code `.badLimit`. In ``call`` it is a deadline that has passed.
public struct Timeouts: Sendable, Hashable {
  /// Waiting for a slot, and where the transport limits connections, for one of those. Not part of the attempt's time.
  public var queue: Duration?
  /// Name look-up, connection and TLS handshake together.
  public var connect: Duration?
  /// From the request's last byte to the response's first.
  public var firstByte: Duration?
  /// Without a byte in either direction while a body is under way, also where a body's own source gives none. A slow
  /// reader of the response is no idle time.
  public var idle: Duration?
  /// One attempt, from the slot to the last byte, wherever its bodies go to or come from.
  public var attempt: Duration?
  /// The whole call: waiting, all attempts and the delays between them.
  public var call: Duration?

  /// Limits for the parts that are named, none for the others.
  public init(
    queue: Duration? = nil, connect: Duration? = nil, firstByte: Duration? = nil, idle: Duration? = nil,
    attempt: Duration? = nil, call: Duration? = nil
  ) {
    self.queue = queue
    self.connect = connect
    self.firstByte = firstByte
    self.idle = idle
    self.attempt = attempt
    self.call = call
  }

  /// The part that a limit is for, as an error names it.
  public enum Timer: String, Sendable, Hashable {
    /// Waiting for a slot.
    case queue
    /// Name look-up, connection and TLS handshake.
    case connect
    /// Waiting for the response to begin.
    case firstByte
    /// The idle time of a body.
    case idle
    /// One attempt as a whole.
    case attempt
    /// The whole call.
    case call
  }

  /// These limits, and where they say nothing, the others'.
  public func orElse(_ others: Timeouts) -> Timeouts {
    Timeouts(
      queue: queue ?? others.queue, connect: connect ?? others.connect, firstByte: firstByte ?? others.firstByte,
      idle: idle ?? others.idle, attempt: attempt ?? others.attempt, call: call ?? others.call)
  }

  /// These limits without those that are `.unlimited`.
  package var bounded: Timeouts {
    Timeouts(
      queue: queue?.orNil, connect: connect?.orNil, firstByte: firstByte?.orNil, idle: idle?.orNil,
      attempt: attempt?.orNil, call: call?.orNil)
  }
}

extension Duration {
  /// Nil where it is no limit.
  package var orNil: Duration? { self == .unlimited ? nil : self }
}
