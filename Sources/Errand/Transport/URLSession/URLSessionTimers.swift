#if HAS_URLSESSION
  #if canImport(FoundationNetworking)
    import Errand
    import Foundation
  #else
    import Foundation
  #endif

  /// The time limits of a transfer over URLSession, and the timer that reports one. Pure: the present instant is an
  /// argument.
  ///
  /// URLSession does not say when a connection is established. A request with a body gives a sign, its first bytes going
  /// out; for one without, `connect` and `firstByte` are held as one limit, up to the head of the response.
  struct URLSessionTimers {
    /// The known progress of the transfer.
    enum Stage: Hashable {
      /// No sign of a connection yet.
      case opening
      /// URLSession waits for a network; only the attempt as a whole is limited.
      case waitingForNetwork
      /// The body goes out.
      case sending
      /// The request is out.
      case awaitingResponse
      /// The body comes in.
      case receiving
    }

    /// A timer that runs.
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
    /// True while the reader holds the transfer.
    private var isHeld = false

    init(_ limits: Timeouts, hasBody: Bool, at start: Duration) {
      self.limits = limits
      self.hasBody = hasBody
      self.start = start
      stageStart = start
      lastActivity = start
    }

    /// Notes that URLSession waits for a network.
    mutating func waitsForNetwork(at now: Duration) {
      if stage == .opening { enter(.waitingForNetwork, at: now) }
    }

    /// Notes that the connection is established.
    mutating func connected(at now: Duration) {
      guard nothingSeen else { return }
      enter(hasBody ? .sending : .awaitingResponse, at: now)
    }

    /// Notes bytes of the body that went out, perhaps the last ones.
    mutating func sent(all: Bool, at now: Duration) {
      connected(at: now)
      lastActivity = now
      if all, stage == .sending { enter(.awaitingResponse, at: now) }
    }

    /// Notes the head of the response.
    mutating func responded(at now: Duration) { enter(.receiving, at: now) }

    /// Notes bytes of the response.
    mutating func received(at now: Duration) { lastActivity = now }

    /// Holds the transfer, as its reader wants, or lets it go on.
    mutating func hold(_ isHeld: Bool, at now: Duration) {
      self.isHeld = isHeld
      lastActivity = now
    }

    /// True when there was no sign of a connection yet.
    var nothingSeen: Bool { stage == .opening || stage == .waitingForNetwork }

    /// The timer that fires first; nil when none runs.
    var next: Alarm? {
      [attempt, stageAlarm].compactMap(\.self).min { $0.instant < $1.instant }
    }

    /// The known phase of the transfer.
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
