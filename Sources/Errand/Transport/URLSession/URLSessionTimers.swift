#if HAS_URLSESSION
  #if canImport(FoundationNetworking)
    import Errand
    import Foundation
  #else
    import Foundation
  #endif

  /// The time limits of a URLSession transfer. Callers pass in the current instant.
  ///
  /// URLSession doesn't report when a connection is established. For a request with a body, the connection is
  /// considered established once the first bytes are sent. For a request without a body, `connect` and `firstByte` are
  /// combined into one limit, which ends when the response head arrives.
  struct URLSessionTimers {
    enum Stage: Hashable {
      case opening
      /// URLSession is waiting for a network. Only the attempt timeout applies.
      case waitingForNetwork
      case sending
      case awaitingResponse
      case receiving
    }

    struct Alarm: Hashable {
      let instant: Duration
      let timer: Timeouts.Timer
      let limit: Duration
    }

    private let limits: Timeouts
    private let hasBody: Bool
    private let start: Duration
    private(set) var stage = Stage.opening
    private var stageStart: Duration
    private var lastActivity: Duration
    private var isHeld = false

    init(_ limits: Timeouts, hasBody: Bool, at start: Duration) {
      self.limits = limits
      self.hasBody = hasBody
      self.start = start
      stageStart = start
      lastActivity = start
    }

    mutating func waitsForNetwork(at now: Duration) {
      if stage == .opening { enter(.waitingForNetwork, at: now) }
    }

    mutating func connected(at now: Duration) {
      guard nothingSeen else { return }
      enter(hasBody ? .sending : .awaitingResponse, at: now)
    }

    mutating func sent(all: Bool, at now: Duration) {
      connected(at: now)
      lastActivity = now
      if all, stage == .sending { enter(.awaitingResponse, at: now) }
    }

    mutating func responded(at now: Duration) { enter(.receiving, at: now) }

    mutating func received(at now: Duration) { lastActivity = now }

    mutating func hold(_ isHeld: Bool, at now: Duration) {
      self.isHeld = isHeld
      lastActivity = now
    }

    /// Whether the transfer has shown no sign of an established connection.
    var nothingSeen: Bool { stage == .opening || stage == .waitingForNetwork }

    var next: Alarm? {
      [attempt, stageAlarm].compactMap(\.self).min { $0.instant < $1.instant }
    }

    var phase: TaskError.Phase {
      switch stage {
      case .opening: hasBody ? .connecting : .awaitingResponse
      case .waitingForNetwork: .connecting
      case .sending: .sending
      case .awaitingResponse: .awaitingResponse
      case .receiving: .receiving
      }
    }

    private var attempt: Alarm? { alarm(.attempt, limits.attempt, from: start) }

    private var stageAlarm: Alarm? {
      switch stage {
      case .opening where hasBody: alarm(.connect, limits.connect, from: start)
      case .opening: alarm(.firstByte, limits.firstByte.map { $0 + (limits.connect ?? .zero) }, from: start)
      case .waitingForNetwork: nil
      case .awaitingResponse: alarm(.firstByte, limits.firstByte, from: stageStart)
      case .sending, .receiving: isHeld ? nil : alarm(.idle, limits.idle, from: lastActivity)
      }
    }

    private func alarm(_ timer: Timeouts.Timer, _ limit: Duration?, from instant: Duration) -> Alarm? {
      limit.map { Alarm(instant: instant + $0, timer: timer, limit: $0) }
    }

    private mutating func enter(_ stage: Stage, at now: Duration) {
      self.stage = stage
      stageStart = now
      lastActivity = now
    }
  }
#endif
