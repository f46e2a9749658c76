#if os(Linux)
  /// The time limits of a transfer, in nanoseconds of the monotonic clock. Callers pass in the current instant.
  struct TransferTimers {
    private enum Stage {
      /// Waiting for a connection, because the connection limit has been reached.
      case waiting
      case connecting
      case sending
      case awaitingResponse
      case receiving
    }

    private struct Limits {
      let queue: UInt64?
      let connect: UInt64?
      let firstByte: UInt64?
      let idle: UInt64?
      let attempt: UInt64?

      init(_ limits: Timeouts) {
        queue = limits.queue?.nanoseconds
        connect = limits.connect?.nanoseconds
        firstByte = limits.firstByte?.nanoseconds
        idle = limits.idle?.nanoseconds
        attempt = limits.attempt?.nanoseconds
      }
    }

    private let limits: Limits
    private var start: UInt64
    private var stage: Stage
    /// The start of the attempt timeout. It excludes the wait for a connection if the wait has its own timeout.
    private var attemptStart: UInt64
    private var stageStart: UInt64
    private var lastActivity: UInt64
    /// Whether a slow reader has paused the transfer, so the peer can't continue. A slow source of the request body
    /// doesn't count.
    var isHeld = false

    /// `waits` is whether the transfer may have to wait for a connection first.
    init(_ limits: Timeouts, at start: UInt64, waits: Bool = false) {
      self.limits = Limits(limits)
      self.start = start
      stage = waits ? .waiting : .connecting
      attemptStart = start
      stageStart = start
      lastActivity = start
    }

    mutating func restart(at start: UInt64) {
      self.start = start
      attemptStart = start
      stageStart = start
      lastActivity = start
    }

    /// Ends the wait for a connection, because libcurl has started to connect.
    mutating func connecting(at now: UInt64) {
      if case .waiting = stage { enter(.connecting, at: now) }
    }

    /// Restarts the connect timeout, because the connection was lost before it was used.
    mutating func connectingAgain(at now: UInt64) { enter(.connecting, at: now) }

    mutating func connected(at now: UInt64, sendsBody: Bool) {
      enter(sendsBody ? .sending : .awaitingResponse, at: now)
    }

    /// Called when the last byte of the request has been passed to libcurl.
    mutating func sent(at now: UInt64) {
      if case .sending = stage { enter(.awaitingResponse, at: now) }
    }

    mutating func responded(at now: UInt64) { enter(.receiving, at: now) }

    mutating func moved(at now: UInt64) { lastActivity = now }

    /// The next timer to fire, with its instant and limit, or `nil` if none is running.
    var next: (instant: UInt64, timer: Timeouts.Timer, limit: UInt64)? {
      var next: (instant: UInt64, timer: Timeouts.Timer, limit: UInt64)?
      func consider(_ limit: UInt64?, from instant: UInt64, _ timer: Timeouts.Timer) {
        guard let limit else { return }
        let end = instant &+ limit
        if next.map({ end < $0.instant }) ?? true { next = (end, timer, limit) }
      }
      switch stage {
      case .waiting where limits.queue != nil:
        consider(limits.queue, from: start, .queue)
        return next
      case .waiting: break
      case .connecting: consider(limits.connect, from: stageStart, .connect)
      case .awaitingResponse: consider(limits.firstByte, from: stageStart, .firstByte)
      case .sending, .receiving: if !isHeld { consider(limits.idle, from: lastActivity, .idle) }
      }
      consider(limits.attempt, from: attemptStart, .attempt)
      return next
    }

    var phase: TaskError.Phase {
      switch stage {
      case .waiting: .waiting
      case .connecting: .connecting
      case .sending: .sending
      case .awaitingResponse: .awaitingResponse
      case .receiving: .receiving
      }
    }

    private mutating func enter(_ stage: Stage, at now: UInt64) {
      if case .waiting = self.stage, limits.queue != nil { attemptStart = now }
      self.stage = stage
      stageStart = now
      lastActivity = now
    }
  }

  extension Duration {
    /// The number of whole nanoseconds, clamped to a range from 0 to about a century.
    var nanoseconds: UInt64 {
      let (seconds, attoseconds) = components
      guard seconds >= 0, attoseconds >= 0 else { return 0 }
      return UInt64(min(seconds, 3_200_000_000)) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }
  }
#endif
