/// Keeps the circuit breakers of all hosts: the owner of every ``Circuit``.
final class CircuitDesk: Sendable {
  private struct State {
    var circuits: [Origin: Circuit] = [:]
    /// At how many hosts those are looked for that can be forgotten.
    var sweepsAt = 64
  }

  private let clock: CallClock
  private let state = Lock(State())

  init(clock: CallClock) { self.clock = clock }

  /// Leave to send to `host`, which ends with what came of it; nil where there is no breaker.
  ///
  /// - Parameters:
  ///   - host: The origin that the request goes to.
  ///   - settings: The breaker.
  /// - Returns: The pass.
  /// - Throws: ``TaskError`` with code `.circuitOpen` while the circuit is open.
  func pass(for host: Origin, _ settings: CircuitBreaker) throws -> CircuitPass? {
    guard !settings.isOff else { return nil }
    let now = clock.now
    let decision = state.withLock { state in
      if state.circuits[host] == nil, state.circuits.count >= state.sweepsAt {
        state.circuits = state.circuits.filter { !$1.isIdle(at: now) }
        state.sweepsAt = max(64, 2 * state.circuits.count)
      }
      return state.circuits[host, default: Circuit()].enter(at: now, settings)
    }
    switch decision {
    case .pass(let permit): return CircuitPass(self, host, permit, settings)
    case .refuse(let time): throw Self.refusal(of: host, for: time)
    }
  }

  /// Throws like ``pass(for:_:)`` while the circuit is open, and takes nothing.
  func check(_ host: Origin, _ settings: CircuitBreaker) throws {
    guard !settings.isOff, case .open(let time) = circuit(of: host) else { return }
    throw Self.refusal(of: host, for: time)
  }

  func circuit(of host: Origin) -> CircuitBreaker.State {
    let now = clock.now
    return state.withLock { $0.circuits[host] }?.state(at: now) ?? .closed
  }

  func leave(_ host: Origin, _ permit: Circuit.Permit, _ result: Circuit.Result, _ settings: CircuitBreaker) {
    let now = clock.now
    state.withLock { _ = $0.circuits[host]?.leave(permit, result, at: now, settings) }
  }

  private static func refusal(of host: Origin, for time: Duration) -> TaskError {
    let until = time > .zero ? "for another \(time.formattedSeconds)" : "until the probe under way has succeeded"
    return TaskError(
      .circuitOpen, "\(host) failed too often: nothing is sent to it \(until)", phase: .waiting, isSurelyNotSent: true)
  }
}
