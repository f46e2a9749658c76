/// Hands out slots, as decided by an ``Admission``.
///
/// A slot covers one exchange, during which no app code is awaited. Longer work, such as reading a streamed body, holds
/// a ``StreamPermit`` instead.
final class AdmissionGate: Sendable {
  private struct State {
    var admission: Admission
    var nextTicket = 0
    var waiters = TicketWaiters()
    /// The timer for the next time at which the rate limit allows a call to start.
    var alarm: (time: Duration, work: Task<Void, Never>)?

    /// Admits waiters and returns those that are already suspended.
    mutating func start(_ tickets: [Admission.Ticket]) -> [Waiter<Bool>] {
      tickets.compactMap { waiters.decide($0, hasTurn: true) }
    }
  }

  private let clock: CallClock
  private let state: Lock<State>

  init(limits: ThrottleLimits, clock: CallClock = .continuous) {
    self.clock = clock
    state = Lock(State(admission: Admission(limits: limits)))
  }

  deinit { state.withLock { $0.alarm }?.work.cancel() }

  /// Runs one exchange in a slot of its host. This is the only way to hold a slot.
  ///
  /// If all slots are taken, calls `onWait` and waits for up to `limit`. `exchange` must not await app code.
  ///
  /// Throws ``TaskError`` with code `.queueFull` if the call must not wait or too many calls are waiting, or with code
  /// `.timedOut` if the limit expires. Throws `CancellationError` if the surrounding task is cancelled during the wait,
  /// and any error thrown by `exchange`.
  func withSlot<Result>(
    at host: Origin, _ priority: CallPriority, within limit: Duration?, mayWait: Bool = true, onWait: () -> Void,
    exchange: () async throws -> Result
  ) async throws -> Result {
    try await enter(host, priority, within: limit, mayWait: mayWait, onWait)
    defer { leave(host) }
    return try await exchange()
  }

  /// Returns a permit for a stream at `host`. The permit is released with its last reference. Throws the same errors as
  /// ``withSlot(at:_:within:mayWait:onWait:exchange:)``.
  func permit(
    at host: Origin, _ priority: CallPriority, within limit: Duration?, onWait: () -> Void
  ) async throws -> StreamPermit {
    try await enter(host, priority, within: limit, mayWait: true, onWait)
    return StreamPermit(self, host)
  }

  private func enter(
    _ host: Origin, _ priority: CallPriority, within limit: Duration?, mayWait: Bool, _ onWait: () -> Void
  ) async throws {
    guard let ticket = try ticket(host, priority, mayWait: mayWait) else { return }
    onWait()
    // Throws only if the call was not admitted, even if it is admitted while the limit expires.
    try await clock.limiting(limit, .queue, phase: .waiting) { [self] in try await wait(ticket, host) }
  }

  /// Enters the queue and returns a ticket. Returns `nil` if a slot was free and has been taken.
  private func ticket(_ host: Origin, _ priority: CallPriority, mayWait: Bool) throws -> Admission.Ticket? {
    let now = clock.now
    let (ticket, decision) = state.withLock { state in
      state.nextTicket += 1
      let ticket = state.nextTicket
      return (ticket, state.admission.enter(ticket, host: host, priority: priority, mayWait: mayWait, at: now))
    }
    switch decision {
    case .start: return nil
    case .refuse:
      guard mayWait else {
        throw TaskError(.queueFull, "no slot is free for a hedge", phase: .waiting, wasNotSent: true)
      }
      throw TaskError(
        .queueFull, "the queue is full: \(limits.maximumWaiting) attempts are waiting (ThrottleLimits.maximumWaiting)",
        phase: .waiting, wasNotSent: true)
    case .wait:
      setAlarm()
      return ticket
    }
  }

  /// Whether a call to `host` would get a slot without waiting.
  func hasRoom(at host: Origin) -> Bool {
    let now = clock.now
    return state.withLock { $0.admission.hasRoom(at: host, now) }
  }

  func setLimits(_ limits: ThrottleLimits) { change { $0.setLimits(limits, at: $1) } }

  var limits: ThrottleLimits { state.withLock { $0.admission.limits } }
  var running: Int { state.withLock { $0.admission.running } }
  var waiting: Int { state.withLock { $0.admission.waiting } }

  var snapshot: ThrottleSnapshot {
    let admission = state.withLock { $0.admission }
    return ThrottleSnapshot(
      limits: admission.limits, running: admission.running, waiting: admission.waiting, hosts: admission.counts)
  }

  /// Waits in the queue. If the surrounding task is cancelled first, leaves the queue and throws `CancellationError`.
  private func wait(_ ticket: Admission.Ticket, _ host: Origin) async throws {
    let isAdmitted = await answer { waiter in
      state.withLock { $0.waiters.keep(waiter, ticket) }
    } onCancel: {
      abandon(ticket, host)
    }
    if !isAdmitted { throw CancellationError() }
  }

  private func abandon(_ ticket: Admission.Ticket, _ host: Origin) {
    let now = clock.now
    let waiter = state.withLock { state in
      state.admission.abandon(ticket, host: host, at: now) ? state.waiters.decide(ticket, hasTurn: false) : nil
    }
    waiter?.resume(returning: false)
  }

  fileprivate func leave(_ host: Origin) { change { $0.leave(host: host, at: $1) } }

  private func change(_ change: (inout Admission, Duration) -> [Admission.Ticket]) {
    let now = clock.now
    let (started, isAlarmDue) = state.withLock { state in
      let started = state.start(change(&state.admission, now))
      return (started, state.admission.nextWake != state.alarm?.time)
    }
    if isAlarmDue { setAlarm() }
    for waiter in started { waiter.resume(returning: true) }
  }

  /// Updates the timer for the next time at which the rate limit allows a call to start.
  private func setAlarm() {
    let now = clock.now
    let old = state.withLock { state -> Task<Void, Never>? in
      guard state.admission.nextWake != state.alarm?.time else { return nil }
      let old = state.alarm?.work
      state.alarm = state.admission.nextWake.map { time in
        let work = Task { [weak self, clock] in
          guard (try? await clock.sleep(for: time - now)) != nil else { return }  // replaced by another alarm
          self?.wake(time)
        }
        return (time, work)
      }
      return old
    }
    old?.cancel()
  }

  private func wake(_ time: Duration) {
    state.withLock { state in
      if state.alarm?.time == time { state.alarm = nil }
    }
    change { $0.wake(at: max($1, time)) }
  }
}

/// Permission to keep one stream open at a host: a body that the caller reads, or one that the app produces while it is
/// being sent. The permit is released with its last reference.
final class StreamPermit: Sendable {
  private let gate: AdmissionGate
  private let host: Origin

  fileprivate init(_ gate: AdmissionGate, _ host: Origin) {
    self.gate = gate
    self.host = host
  }

  deinit { gate.leave(host) }
}
