extension Timeouts {
  /// The limits of a call whose bodies are in memory: the task's, then the server's; its `timeout` is one attempt's.
  static func ofAttempts(_ timeout: Duration, _ limits: Timeouts, _ configuration: ServerConfiguration) -> Timeouts {
    var merged = limits.orElse(configuration.timeouts)
    if timeout != .inherited {
      merged.attempt = min(timeout, limits.attempt ?? timeout)
    } else {
      merged.attempt = merged.attempt ?? configuration.defaultTimeout
    }
    return merged.bounded
  }

  /// The limits of a call with a body that goes to or comes from a file or a stream: its `timeout` ends with the head of the
  /// response, and from then on is the limit for the idle time of the body, as it is for a body on its way up.
  static func ofStreams(_ timeout: Duration, _ limits: Timeouts, _ configuration: ServerConfiguration) -> Timeouts {
    var merged = limits.orElse(configuration.timeouts)
    let timeout = timeout == .inherited ? configuration.defaultTimeout : timeout
    merged.connect = min(merged.connect ?? timeout, timeout)
    merged.firstByte = min(merged.firstByte ?? timeout, timeout)
    merged.idle = merged.idle ?? timeout
    return merged.bounded
  }

  /// The setting that a limit was taken from, where the timer's words do not say so: the task's time limit, the server's default, or that
  /// of attempts; nil for the others, and for what is left of another limit.
  static func setting(
    of timer: Timer, _ limit: Duration, _ timeout: Duration, _ limits: Timeouts, _ configuration: ServerConfiguration
  ) -> String? {
    let stated = limits.orElse(configuration.timeouts)
    let own: Duration? =
      switch timer {
      case .connect: stated.connect
      case .firstByte: stated.firstByte
      case .idle: stated.idle
      // That of a task with a timeout counts where it is the shorter one, and the server's does not.
      case .attempt: timeout == .inherited ? stated.attempt : limits.attempt.flatMap { $0 < timeout ? $0 : nil }
      case .queue, .call: limit
      }
    if limit == own { return timer == .attempt ? "timeouts.attempt" : nil }
    let (general, name) =
      timeout == .inherited ? (configuration.defaultTimeout, "defaultTimeout") : (timeout, "timeout")
    return limit == general ? name : nil
  }

  /// The error for a limit that leaves no time; nil where there is none.
  func problem(timeout: Duration, named name: String) -> TaskError? {
    let limits = [
      (timeout == .inherited ? nil : timeout, name), (queue, "timeouts.queue"), (connect, "timeouts.connect"),
      (firstByte, "timeouts.firstByte"), (idle, "timeouts.idle"), (attempt, "timeouts.attempt"),
    ]
    for case (let limit?, let name) in limits where limit <= .zero {
      return TaskError(
        .badLimit, "\(name) is \(limit.formattedSeconds), which leaves no time: give a longer one, or .unlimited",
        phase: .preparing)
    }
    return nil
  }
}
