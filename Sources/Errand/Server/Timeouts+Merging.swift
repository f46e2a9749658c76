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

  /// The setting that a limit was taken from, where it is none of its own: the task's time limit, or the server's default.
  static func setting(
    of timer: Timer, _ timeout: Duration, _ limits: Timeouts, _ configuration: ServerConfiguration
  ) -> String? {
    let stated = limits.orElse(configuration.timeouts)
    let general = timeout == .inherited ? configuration.defaultTimeout : timeout
    let own: Duration? =
      switch timer {
      case .connect: stated.connect
      case .firstByte: stated.firstByte
      case .idle: stated.idle
      case .attempt: timeout == .inherited ? stated.attempt : nil
      case .queue, .call: .zero
      }
    if let own, own <= general || timer == .idle || timer == .attempt { return nil }
    return timeout == .inherited ? "defaultTimeout" : "timeout"
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
