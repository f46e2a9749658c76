/// The state machine of one host's circuit breaker.
struct Circuit {
  /// Permission to send an attempt. It is returned together with the attempt's result.
  struct Permit: Equatable {
    let generation: Int
    let isProbe: Bool
  }

  enum Decision: Equatable {
    case permit(Permit)
    /// The attempt is refused. The duration is the time until a probe is allowed, or zero while probes are running.
    case refuse(Duration)
  }

  enum Result {
    case success
    case failure
    /// The result says nothing about the host's health.
    case unknown
  }

  private enum Phase {
    case closed
    case open(until: Duration)
    /// Half open, with the number of running probes. `since` is the last time a probe started or ended.
    case halfOpen(probes: Int, since: Duration)
  }

  private var phase = Phase.closed
  private var windows = CircuitWindows()
  /// Incremented on every phase change, so that results from earlier phases are ignored.
  private var generation = 0

  mutating func enter(at now: Duration, _ settings: CircuitBreaker) -> Decision {
    if case .open(let until) = phase, now >= until { change(to: .halfOpen(probes: 0, since: now)) }
    switch phase {
    case .closed: return .permit(Permit(generation: generation, isProbe: false))
    case .open(let until): return .refuse(until - now)
    case .halfOpen(let probes, _):
      guard probes < settings.probes else { return .refuse(.zero) }
      phase = .halfOpen(probes: probes + 1, since: now)
      return .permit(Permit(generation: generation, isProbe: true))
    }
  }

  /// Records the result of an attempt. Returns `true` if the result opened the circuit.
  mutating func leave(_ permit: Permit, _ result: Result, at now: Duration, _ settings: CircuitBreaker) -> Bool {
    guard permit.generation == generation else { return false }
    switch (phase, result) {
    case (.open, _), (.closed, .unknown): return false
    case (.closed, _):
      windows.count(isFailure: result == .failure, at: now, settings.window)
      guard windows.isBad(settings) else { return false }
      change(to: .open(until: now + settings.openDuration))
      return true
    case (.halfOpen(let probes, _), .unknown):
      phase = .halfOpen(probes: probes - 1, since: now)
      return false
    case (.halfOpen, .success):
      change(to: .closed)
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

  /// How long a circuit is kept after a probe becomes possible, if no attempt is made to reach the host.
  static let memory: Duration = .seconds(3600)

  /// Whether the circuit can be removed without losing information.
  func isIdle(at now: Duration) -> Bool {
    switch phase {
    case .closed: windows.areOver(at: now)
    case .open(let until): now >= until + Self.memory
    case .halfOpen(let probes, let since): probes == 0 && now >= since + Self.memory
    }
  }

  private mutating func change(to phase: Phase) {
    self.phase = phase
    windows = CircuitWindows()
    generation += 1
  }
}

/// The attempts to reach a host. There is one window per configured length, because servers that share a manager can
/// configure different lengths. Every attempt is counted in every window.
struct CircuitWindows {
  /// The maximum number of windows. If it is exceeded, the oldest window is removed.
  static let most = 8

  private var windows: [(length: Duration, window: CircuitWindow)] = []

  var windowCount: Int { windows.count }

  mutating func count(isFailure: Bool, at now: Duration, _ length: Duration) {
    if !windows.contains(where: { $0.length == length }) { add(length) }
    for index in windows.indices { windows[index].window.count(isFailure: isFailure, at: now) }
  }

  /// Adds a window, filled from the longest existing one.
  private mutating func add(_ length: Duration) {
    let longest = windows.max { $0.length < $1.length }?.window
    if windows.count == Self.most { windows.removeFirst() }
    windows.append((length, CircuitWindow(length, after: longest)))
  }

  func isBad(_ settings: CircuitBreaker) -> Bool {
    guard let window = windows.first(where: { $0.length == settings.window })?.window else { return false }
    let (calls, failures) = window.counts
    return failures > 0 && calls >= settings.minimumCalls && Double(failures) / Double(calls) >= settings.failureRatio
  }

  func areOver(at now: Duration) -> Bool { windows.allSatisfy { $0.window.isOver(at: now) } }
}

/// The calls and failures in a sliding window, counted in ten slices. The oldest slice is dropped as time passes.
struct CircuitWindow {
  private static let slices = 10
  /// With shorter slices, the slice number could overflow.
  private static let shortestSlice: Duration = .microseconds(1)

  private struct Slice {
    var calls = 0
    var failures = 0
  }

  private var slices: [Slice] = []
  /// The number of the newest slice, counted from the clock's zero.
  private var newest = 0
  private let sliceLength: Duration

  /// Creates a window filled with the attempts from another one.
  init(_ length: Duration, after other: CircuitWindow?) {
    sliceLength = max(length / Self.slices, Self.shortestSlice)
    guard let other else { return }
    let first = other.newest - other.slices.count + 1
    for (offset, slice) in other.slices.enumerated() where slice.calls > 0 {
      add(slice, at: Int(other.sliceLength * (first + offset) / sliceLength))
    }
  }

  var counts: (calls: Int, failures: Int) {
    slices.reduce((0, 0)) { ($0.0 + $1.calls, $0.1 + $1.failures) }
  }

  mutating func count(isFailure: Bool, at now: Duration) {
    add(Slice(calls: 1, failures: isFailure ? 1 : 0), at: Int(now / sliceLength))
  }

  /// Adds to the slice with this number. Attempts older than the newest slice are added to the newest slice.
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

  func isOver(at now: Duration) -> Bool {
    slices.isEmpty || Int(now / sliceLength) - newest >= Self.slices
  }
}
