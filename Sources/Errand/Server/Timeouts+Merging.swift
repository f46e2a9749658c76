extension Timeouts {
  /// The limits of a call with bodies in memory: the task's override the server's, and `timeout` limits an attempt.
  static func ofAttempts(_ timeout: Duration, _ limits: Timeouts, _ configuration: ServerConfiguration) -> Timeouts {
    var merged = limits.orElse(configuration.timeouts)
    if timeout != .inherited {
      merged.attempt = min(timeout, limits.attempt ?? timeout)
    } else {
      merged.attempt = merged.attempt ?? configuration.defaultTimeout
    }
    return merged.bounded
  }

  /// The limits of a call that reads or writes a file or a stream. `timeout` limits the time until the response head
  /// arrives, and the idle time of either body.
  static func ofStreams(_ timeout: Duration, _ limits: Timeouts, _ configuration: ServerConfiguration) -> Timeouts {
    var merged = limits.orElse(configuration.timeouts)
    let timeout = timeout == .inherited ? configuration.defaultTimeout : timeout
    merged.connect = min(merged.connect ?? timeout, timeout)
    merged.firstByte = min(merged.firstByte ?? timeout, timeout)
    merged.idle = merged.idle ?? timeout
    return merged.bounded
  }

  /// The name of the setting that a limit came from: the task's timeout, the server's default or `timeouts.attempt`.
  /// `nil` if the timer already names it, and for the remainder of another limit.
  static func setting(
    of timer: Timer, _ limit: Duration, _ timeout: Duration, _ limits: Timeouts, _ configuration: ServerConfiguration
  ) -> String? {
    let stated = limits.orElse(configuration.timeouts)
    let own: Duration? =
      switch timer {
      case .connect: stated.connect
      case .firstByte: stated.firstByte
      case .idle: stated.idle
      // A task's timeout overrides the server's attempt limit, so only the task's own, if shorter, applies.
      case .attempt: timeout == .inherited ? stated.attempt : limits.attempt.flatMap { $0 < timeout ? $0 : nil }
      case .queue, .call: limit
      }
    if limit == own { return timer == .attempt ? "timeouts.attempt" : nil }
    let (general, name) =
      timeout == .inherited ? (configuration.defaultTimeout, "defaultTimeout") : (timeout, "timeout")
    return limit == general ? name : nil
  }

  /// The error for a limit of zero or less.
  func problem(timeout: Duration, named name: String) -> TaskError? {
    let limits = [
      (timeout == .inherited ? nil : timeout, name), (queue, "timeouts.queue"), (connect, "timeouts.connect"),
      (firstByte, "timeouts.firstByte"), (idle, "timeouts.idle"), (attempt, "timeouts.attempt"),
    ]
    for case (let limit?, let name) in limits where limit <= .zero {
      return TaskError(
        .badLimit, "\(name) is \(limit.formattedSeconds), which leaves no time: set a longer limit, or .unlimited",
        phase: .preparing)
    }
    return nil
  }
}
