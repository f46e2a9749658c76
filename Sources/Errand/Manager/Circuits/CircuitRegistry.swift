/// The circuit breakers of all hosts.
final class CircuitRegistry: Sendable {
  private struct State {
    var circuits: [Origin: Circuit] = [:]
    var threshold = CleanupThreshold()
  }

  private let clock: CallClock
  private let state = Lock(State())

  init(clock: CallClock) { self.clock = clock }

  /// Returns a permit to send an attempt to a host. The breaker must not be off.
  ///
  /// Throws ``TaskError`` with code `.circuitOpen` while the circuit is open.
  func permit(for host: Origin, _ settings: CircuitBreaker) throws -> CircuitPermit {
    let now = clock.now
    let decision = state.withLock { state in
      if state.circuits[host] == nil, state.threshold.isExceeded(by: state.circuits.count + 1) {
        state.circuits = state.circuits.filter { !$1.isIdle(at: now) }
        state.threshold.swept(leaving: state.circuits.count)
      }
      return state.circuits[host, default: Circuit()].enter(at: now, settings)
    }
    switch decision {
    case .permit(let permit): return CircuitPermit(self, host, permit, settings)
    case .refuse(let time): throw Self.refusal(of: host, for: time)
    }
  }

  /// Throws the same error as ``permit(for:_:)`` while the circuit is open, but does not acquire a permit.
  func check(_ host: Origin) throws {
    guard case .open(let time) = circuit(of: host) else { return }
    throw Self.refusal(of: host, for: time)
  }

  var hostCount: Int { state.withLock { $0.circuits.count } }

  func circuit(of host: Origin) -> CircuitBreaker.State {
    let now = clock.now
    return state.withLock { $0.circuits[host] }?.state(at: now) ?? .closed
  }

  func leave(_ host: Origin, _ permit: Circuit.Permit, _ result: Circuit.Result, _ settings: CircuitBreaker) {
    let now = clock.now
    state.withLock { _ = $0.circuits[host]?.leave(permit, result, at: now, settings) }
  }

  private static func refusal(of host: Origin, for time: Duration) -> TaskError {
    let until = time > .zero ? "for another \(time.formattedSeconds)" : "until the current probe succeeds"
    return TaskError(
      .circuitOpen, "the circuit breaker of \(host) is open: no requests are sent to the host \(until)",
      phase: .waiting,
      wasNotSent: true)
  }
}
