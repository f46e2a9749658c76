#if os(Linux)
  /// The time limits of a transfer. Pure: the present instant is an argument.
  ///
  /// Instants are nanoseconds of the monotonic clock.
  struct TransferTimers {
    private enum Stage {
      /// As many connections are open as there may be: for one of them.
      case waiting
      case connecting
      case sending
      case awaitingResponse
      case receiving
    }

    /// The limits of a transfer in nanoseconds.
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
    /// From when the attempt's time counts: not while it waits, where a timer of its own holds that.
    private var attemptStart: UInt64
    private var stageStart: UInt64
    private var lastActivity: UInt64
    /// It stands still, for its reader is slow: the peer cannot go on. A source that is slow holds nothing.
    var isHeld = false

    /// Timers from `start` on; `waits` says that it may have to wait for a connection first.
    init(_ limits: Timeouts, at start: UInt64, waits: Bool = false) {
      self.limits = Limits(limits)
      self.start = start
      stage = waits ? .waiting : .connecting
      attemptStart = start
      stageStart = start
      lastActivity = start
    }

    /// Begins anew at `start`.
    mutating func restart(at start: UInt64) {
      self.start = start
      attemptStart = start
      stageStart = start
      lastActivity = start
    }

    /// It need not wait for a connection: one is being made.
    mutating func connecting(at now: UInt64) {
      if case .waiting = stage { enter(.connecting, at: now) }
    }

    /// The connection was lost before it was of use: another is being made.
    mutating func connectingAgain(at now: UInt64) { enter(.connecting, at: now) }

    /// The connection stands.
    mutating func connected(at now: UInt64, sendsBody: Bool) {
      enter(sendsBody ? .sending : .awaitingResponse, at: now)
    }

    /// The last byte of the request was handed over.
    mutating func sent(at now: UInt64) {
      if case .sending = stage { enter(.awaitingResponse, at: now) }
    }

    /// The head of the response is there.
    mutating func responded(at now: UInt64) { enter(.receiving, at: now) }

    /// A byte went either way.
    mutating func moved(at now: UInt64) { lastActivity = now }

    /// The timer that fires first, when, and after how long; nil when none runs.
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

    /// The phase under way.
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
    /// Whole nanoseconds, not less than none and not more than a century.
    var nanoseconds: UInt64 {
      let (seconds, attoseconds) = components
      guard seconds >= 0, attoseconds >= 0 else { return 0 }
      return UInt64(min(seconds, 3_200_000_000)) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }
  }
#endif
