/// Hands out slots: the owner of an ``Admission``.
///
/// Nothing that awaits another call holds a slot: a call takes it last, just before the transport, and gives it back
/// when the body of the response has ended or was released, or with its head where the caller reads the body.
final class AdmissionDesk: Sendable {
  private struct State {
    var admission: Admission
    var nextTicket = 0
    var waiters = TicketWaiters()
    /// The timer that looks again when the rate allows more.
    var alarm: (time: Duration, work: Task<Void, Never>)?

    /// Notes that these may start; returns those of them who wait already.
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

  /// The answer to a request for a slot.
  enum Entry {
    /// The slot.
    case slot(AdmissionSlot)
    /// A place in line.
    case line(Admission.Ticket)
  }

  /// A slot for `host` where there is one, else a place in line, which must be waited out with ``wait(_:_:)``.
  ///
  /// - Parameters:
  ///   - host: The origin that the request goes to.
  ///   - priority: The priority among the waiters.
  ///   - isAwaited: Whether a call that has had a slot waits for it.
  /// - Returns: The slot or the place.
  /// - Throws: ``TaskError`` with code `.queueFull` when as many wait as may.
  func enter(_ host: Origin, priority: CallPriority, isAwaited: @autoclosure @Sendable () -> Bool = false) throws
    -> Entry
  {
    let now = clock.now
    let (ticket, decision) = state.withLock { state in
      state.nextTicket += 1
      let ticket = state.nextTicket
      return (ticket, state.admission.enter(ticket, host: host, priority: priority, isAwaited: isAwaited(), at: now))
    }
    switch decision {
    case .start: return .slot(AdmissionSlot(self, host))
    case .refuse:
      throw TaskError(
        .queueFull, "as many attempts wait for a slot as maximumWaiting allows: \(limits.maximumWaiting)",
        phase: .waiting, isSurelyNotSent: true)
    case .wait:
      setAlarm()
      return .line(ticket)
    }
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

  /// Waits in line for a slot.
  /// Throws `CancellationError` when the surrounding task is cancelled first; the place is given up then.
  func wait(_ ticket: Admission.Ticket, _ host: Origin) async throws -> AdmissionSlot {
    let isAdmitted = await answer { waiter in
      state.withLock { $0.waiters.keep(waiter, ticket) }
    } onCancel: {
      abandon(ticket, host)
    }
    guard isAdmitted else { throw CancellationError() }
    return AdmissionSlot(self, host)
  }

  private func abandon(_ ticket: Admission.Ticket, _ host: Origin) {
    let now = clock.now
    let waiter = state.withLock { state in
      state.admission.abandon(ticket, host: host, at: now) ? state.waiters.decide(ticket, hasTurn: false) : nil
    }
    waiter?.resume(returning: false)
  }

  /// Frees a slot of `host`.
  func leave(_ host: Origin) { change { $0.leave(host: host, at: $1) } }

  /// Changes the admission, and starts the waiters that may.
  private func change(_ change: (inout Admission, Duration) -> [Admission.Ticket]) {
    let now = clock.now
    let (started, isAlarmDue) = state.withLock { state in
      let started = state.start(change(&state.admission, now))
      return (started, state.admission.nextWake != state.alarm?.time)
    }
    if isAlarmDue { setAlarm() }
    for waiter in started { waiter.resume(returning: true) }
  }

  /// Sets the timer that looks again when the rate allows more, if waiters need one.
  private func setAlarm() {
    let now = clock.now
    let old = state.withLock { state -> Task<Void, Never>? in
      guard state.admission.nextWake != state.alarm?.time else { return nil }
      let old = state.alarm?.work
      state.alarm = state.admission.nextWake.map { time in
        let work = Task { [weak self, clock] in
          guard (try? await clock.sleep(for: time - now)) != nil else { return }  // another alarm took its place
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
