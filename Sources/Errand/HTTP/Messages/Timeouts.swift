extension Duration {
  /// A duration that means no limit: `shop.defaultTimeout = .unlimited`.
  public static let unlimited = Duration(secondsComponent: .max, attosecondsComponent: 0)
}

/// The timeouts for the phases of a call. `nil` means no limit or, in a task's timeouts, the server's value.
/// `.unlimited` always means no limit.
///
/// If a timeout is zero or negative, the call fails with `.badLimit`. For ``call``, such a value is a deadline that has
/// already passed.
public struct Timeouts: Sendable, Hashable {
  /// The time to wait for a slot, and for a connection if the transport limits connections. Not part of ``attempt``.
  public var queue: Duration?
  /// The time for the name lookup, the connection and the TLS handshake together.
  public var connect: Duration?
  /// The time from the last byte of the request to the first byte of the response.
  public var firstByte: Duration?
  /// The time without a byte in either direction while a body is transferred. Includes the time when the source of the
  /// request body stalls, but not the time when the caller doesn't read the response.
  public var idle: Duration?
  /// The time for a single attempt, from the moment it gets a slot to the last byte, including both bodies.
  public var attempt: Duration?
  /// The time for the entire call, including waiting, all attempts and the delays between them.
  public var call: Duration?

  /// Creates timeouts. Each defaults to `nil`, which means no limit.
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

  /// The timeout that expired, as named in errors.
  public enum Timer: String, Sendable, Hashable {
    /// Waiting for a slot.
    case queue
    /// The name lookup, the connection and the TLS handshake.
    case connect
    /// Waiting for the start of the response.
    case firstByte
    /// Inactivity during the transfer of a body.
    case idle
    /// A single attempt.
    case attempt
    /// The entire call.
    case call
  }

  /// Returns these timeouts, with `nil` values replaced by the values in `others`.
  public func orElse(_ others: Timeouts) -> Timeouts {
    Timeouts(
      queue: queue ?? others.queue, connect: connect ?? others.connect, firstByte: firstByte ?? others.firstByte,
      idle: idle ?? others.idle, attempt: attempt ?? others.attempt, call: call ?? others.call)
  }

  package var bounded: Timeouts {
    Timeouts(
      queue: queue?.orNil, connect: connect?.orNil, firstByte: firstByte?.orNil, idle: idle?.orNil,
      attempt: attempt?.orNil, call: call?.orNil)
  }
}

extension Duration {
  package var orNil: Duration? { self == .unlimited ? nil : self }
}
