/// The circuit breaker of one host, pure.
struct Circuit {
  /// The permission to send an attempt, to be given back with its result.
  struct Permit: Equatable {
    let generation: Int
    let isProbe: Bool
  }

  enum Decision: Equatable {
    case permit(Permit)
    /// Refused for so long; zero while probes are under way.
    case refuse(Duration)
  }

  /// The result of an attempt that was sent.
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

  /// Decides whether an attempt may be sent.
  mutating func enter(at now: Duration, _ settings: CircuitBreaker) -> Decision {
    if case .open(let until) = phase, now >= until { change(to: .halfOpen(probes: 0)) }
    switch phase {
    case .closed: return .permit(Permit(generation: generation, isProbe: false))
    case .open(let until): return .refuse(until - now)
    case .halfOpen(let probes):
      guard probes < settings.probes else { return .refuse(.zero) }
      phase = .halfOpen(probes: probes + 1)
      return .permit(Permit(generation: generation, isProbe: true))
    }
  }

  /// Ends an attempt that was sent with a permit; returns true when its result opened the circuit.
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

  /// The time after which an open circuit is forgotten, counted from the moment at which a probe might have been sent:
  /// the host was not called since.
  static let memory: Duration = .seconds(3600)

  /// True when nothing would be lost by forgetting it.
  func isIdle(at now: Duration) -> Bool {
    switch phase {
    case .closed(let window): window.isOver(at: now)
    case .open(let until): now >= until + Self.memory
    case .halfOpen: false
    }
  }

  private mutating func change(to phase: Phase) {
    self.phase = phase
    generation += 1
  }
}

/// The attempts in the time that counts: calls and failures in ten slices, of which the oldest is dropped as time goes
/// on.
struct CircuitWindow {
  private static let slices = 10
  /// The number of a shorter one might be too large to count.
  private static let shortestSlice: Duration = .microseconds(1)

  private struct Slice {
    var calls = 0
    var failures = 0
  }

  private var slices: [Slice] = []
  /// The number of the newest slice, counted from the clock's zero.
  private var newest = 0
  private var sliceLength: Duration = .zero

  var calls: Int { slices.reduce(0) { $0 + $1.calls } }

  /// Failures in proportion to calls.
  var failureRatio: Double {
    let calls = calls
    return calls == 0 ? 0 : Double(slices.reduce(0) { $0 + $1.failures }) / Double(calls)
  }

  mutating func count(isFailure: Bool, at now: Duration, _ window: Duration) {
    let length = max(window / Self.slices, Self.shortestSlice)
    if length != sliceLength { measure(in: length) }
    add(Slice(calls: 1, failures: isFailure ? 1 : 0), at: Int(now / length))
  }

  /// Adds to a slice by its number; what is older than the newest counts to that.
  private mutating func add(_ slice: Slice, at number: Int) {
    if slices.isEmpty || number - newest >= Self.slices {
      slices = [Slice()]
      newest = number
    } else if number > newest {
      slices += Array(repeating: Slice(), count: number - newest)
      slices.removeFirst(max(0, slices.count - Self.slices))
      newest = number
    }
    slices[slices.count - 1].calls += slice.calls
    slices[slices.count - 1].failures += slice.failures
  }

  /// Goes on with slices of another length: servers that share a manager may have windows of their own.
  private mutating func measure(in length: Duration) {
    let (old, oldLength, first) = (slices, sliceLength, newest - slices.count + 1)
    slices = []
    newest = 0
    sliceLength = length
    for (offset, slice) in old.enumerated() where slice.calls > 0 {
      add(slice, at: Int(oldLength * (first + offset) / length))
    }
  }

  /// True when nothing in it counts any more.
  func isOver(at now: Duration) -> Bool {
    slices.isEmpty || Int(now / sliceLength) - newest >= Self.slices
  }
}
