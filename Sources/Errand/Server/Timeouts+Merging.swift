extension Timeouts {
  /// Returns the limits for a call with in-memory bodies. The task's limits override the server's, and `timeout` limits
  /// an attempt.
  static func ofAttempts(_ timeout: Duration, _ limits: Timeouts, _ configuration: ServerConfiguration) -> Timeouts {
    var merged = limits.orElse(configuration.timeouts)
    if timeout != .inherited {
      merged.attempt = min(timeout, limits.attempt ?? timeout)
    } else {
      merged.attempt = merged.attempt ?? configuration.defaultTimeout
    }
    return merged.bounded
  }

  /// Returns the limits for a call that reads or writes a file or a stream. `timeout` limits the time until the
  /// response head arrives, and how long either body may be idle.
  static func ofStreams(_ timeout: Duration, _ limits: Timeouts, _ configuration: ServerConfiguration) -> Timeouts {
    var merged = limits.orElse(configuration.timeouts)
    let isStated = timeout != .inherited
    let timeout = isStated ? timeout : configuration.defaultTimeout
    merged.connect = limits.connect ?? min(merged.connect ?? timeout, timeout)
    // The task's timeout overrides the server's limit, but not the task's own.
    merged.firstByte =
      limits.firstByte ?? (isStated ? min(merged.firstByte ?? timeout, timeout) : merged.firstByte ?? timeout)
    merged.idle = merged.idle ?? timeout
    return merged.bounded
  }

  /// Returns the name of the setting that a limit came from: the task's timeout, the server's default or
  /// `timeouts.attempt`. Returns `nil` if the timer already names the setting, or if the limit is what remains of
  /// another limit.
  static func setting(
    of timer: Timer, _ limit: Duration, _ timeout: Duration, _ limits: Timeouts, _ configuration: ServerConfiguration
  ) -> String? {
    let stated = limits.orElse(configuration.timeouts)
    let own: Duration? =
      switch timer {
      case .connect: stated.connect
      case .firstByte: stated.firstByte
      case .idle: stated.idle
      // A task's timeout overrides the server's attempt limit, so only the task's own attempt limit applies, if it is
      // shorter.
      case .attempt: timeout == .inherited ? stated.attempt : limits.attempt.flatMap { $0 < timeout ? $0 : nil }
      case .queue, .call: limit
      }
    if limit == own { return timer == .attempt ? "timeouts.attempt" : nil }
    let (general, name) =
      timeout == .inherited ? (configuration.defaultTimeout, "defaultTimeout") : (timeout, "timeout")
    return limit == general ? name : nil
  }

  /// Returns the error for a limit of zero or less.
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
