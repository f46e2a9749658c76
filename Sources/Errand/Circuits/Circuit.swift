/// The circuit breaker of one host, pure.
struct Circuit {
  /// Leave to send, to be given back with what came of it.
  struct Permit: Equatable {
    let generation: Int
    let isProbe: Bool
  }

  enum Decision: Equatable {
    case pass(Permit)
    /// Not for so long; zero while probes are under way.
    case refuse(Duration)
  }

  /// What came of something sent.
  enum Result {
    case success
    case failure
    /// Nothing that says how the host is.
    case unknown
  }

  private enum Phase {
    case closed(CircuitWindow)
    case open(until: Duration)
    case halfOpen(probes: Int)
  }

  private var phase = Phase.closed(CircuitWindow())
  /// Grows with every change of phase: what was sent before says nothing of the present one.
  private var generation = 0

  /// Somebody wants to send.
  mutating func enter(at now: Duration, _ settings: CircuitBreaker) -> Decision {
    if case .open(let until) = phase, now >= until { change(to: .halfOpen(probes: 0)) }
    switch phase {
    case .closed: return .pass(Permit(generation: generation, isProbe: false))
    case .open(let until): return .refuse(until - now)
    case .halfOpen(let probes):
      guard probes < settings.probes else { return .refuse(.zero) }
      phase = .halfOpen(probes: probes + 1)
      return .pass(Permit(generation: generation, isProbe: true))
    }
  }

  /// What was sent with a permit has come to something; returns true when that opened the circuit.
  mutating func leave(_ permit: Permit, _ result: Result, at now: Duration, _ settings: CircuitBreaker) -> Bool {
    guard permit.generation == generation else { return false }
    switch (phase, result) {
    case (.open, _), (.closed, .unknown): return false
    case (.closed(var window), _):
      window.count(isFailure: result == .failure, at: now, settings.window)
      let isBad = window.calls >= settings.minimumCalls && window.failureRatio >= settings.failureRatio
      if isBad { change(to: .open(until: now + settings.openDuration)) } else { phase = .closed(window) }
      return isBad
    case (.halfOpen(let probes), .unknown):
      phase = .halfOpen(probes: probes - 1)
      return false
    case (.halfOpen, .success):
      change(to: .closed(CircuitWindow()))
      return false
    case (.halfOpen, .failure):
      change(to: .open(until: now + settings.openDuration))
      return true
    }
  }

  func state(at now: Duration) -> CircuitBreaker.State {
    switch phase {
    case .closed: .closed
    case .open(let until): now < until ? .open(for: until - now) : .halfOpen
    case .halfOpen: .halfOpen
    }
  }

  /// Whether nothing would be lost by forgetting it.
  func isIdle(at now: Duration) -> Bool {
    if case .closed(let window) = phase { window.isOver(at: now) } else { false }
  }

  private mutating func change(to phase: Phase) {
    self.phase = phase
    generation += 1
  }
}
