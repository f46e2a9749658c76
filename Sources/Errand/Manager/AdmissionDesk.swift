/// Hands out slots: the owner of an ``Admission``.
///
/// Nothing that awaits another call holds a slot: it is asked for last, just before the transport, and given back when
/// the body of the response has ended or was let go.
final class AdmissionDesk: Sendable {
  private struct State {
    var admission: Admission
    var nextTicket = 0
    var waiters: [Admission.Ticket: UnsafeContinuation<Bool, Never>] = [:]
    /// Tickets that were decided on before their owner began to wait: admitted, or given up.
    var early: [Admission.Ticket: Bool] = [:]

    /// Notes that these may start; returns those of them who wait already.
    mutating func start(_ tickets: [Admission.Ticket]) -> [UnsafeContinuation<Bool, Never>] {
      tickets.compactMap { ticket in
        if let waiter = waiters.removeValue(forKey: ticket) { return waiter }
        early[ticket] = true
        return nil
      }
    }
  }

  private let state: Lock<State>

  init(limits: ThrottleLimits) { state = Lock(State(admission: Admission(limits: limits))) }

  /// A slot, given back once: by ``giveBack()``, or by letting the last reference go.
  final class Slot: Sendable {
    private let desk: AdmissionDesk
    private let host: Origin
    private let isHeld = Lock(true)

    fileprivate init(_ desk: AdmissionDesk, _ host: Origin) {
      self.desk = desk
      self.host = host
    }

    deinit { giveBack() }

    func giveBack() {
      let wasHeld = isHeld.withLock { isHeld in
        defer { isHeld = false }
        return isHeld
      }
      if wasHeld { desk.leave(host) }
    }
  }

  /// A slot for `host`, at once where there is one.
  ///
  /// - Parameters:
  ///   - host: The origin that the request goes to.
  ///   - priority: Who goes first among those who wait.
  ///   - waiting: Called when there is none at once.
  /// - Returns: The slot.
  /// - Throws: `CancellationError` when the surrounding task is cancelled first.
  func slot(for host: Origin, priority: CallPriority, waiting: () -> Void) async throws -> Slot {
    let (ticket, decision) = state.withLock { state in
      state.nextTicket += 1
      return (state.nextTicket, state.admission.enter(state.nextTicket, host: host, priority: priority))
    }
    if decision == .wait {
      waiting()
      try await wait(ticket, host)
    }
    return Slot(self, host)
  }

  func setLimits(_ limits: ThrottleLimits) {
    wake(state.withLock { state in state.start(state.admission.setLimits(limits)) })
  }

  var limits: ThrottleLimits { state.withLock { $0.admission.limits } }
  var running: Int { state.withLock { $0.admission.running } }
  var waiting: Int { state.withLock { $0.admission.waiting } }
  var counts: [Origin: (running: Int, waiting: Int)] { state.withLock { $0.admission.counts } }

  private func wait(_ ticket: Admission.Ticket, _ host: Origin) async throws {
    let isAdmitted = await withTaskCancellationHandler {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Bool, Never>) in
        let answer = state.withLock { state -> Bool? in
          if let early = state.early.removeValue(forKey: ticket) { return early }
          state.waiters[ticket] = continuation
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      abandon(ticket, host)
    }
    guard isAdmitted else { throw CancellationError() }
  }

  private func abandon(_ ticket: Admission.Ticket, _ host: Origin) {
    let continuation = state.withLock { state -> UnsafeContinuation<Bool, Never>? in
      guard state.admission.abandon(ticket, host: host) else { return nil }
      if let waiter = state.waiters.removeValue(forKey: ticket) { return waiter }
      state.early[ticket] = false
      return nil
    }
    continuation?.resume(returning: false)
  }

  fileprivate func leave(_ host: Origin) {
    wake(state.withLock { state in state.start(state.admission.leave(host: host)) })
  }

  private func wake(_ continuations: [UnsafeContinuation<Bool, Never>]) {
    for continuation in continuations { continuation.resume(returning: true) }
  }
}
