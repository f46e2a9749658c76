/// The parts of a call that may wait around its attempts. A call that has any runs in a Swift task of its own, and a
/// cancellation from outside cancels that.
///
/// A call without them runs in the task of its caller, which must not be cancelled. It then waits for one thing at a time,
/// and each is told to end: the exchange by its transport, all else by a task of its own (``Call/interruptible(_:)``).
/// A new feature that waits around attempts is a field here; every other wait goes through `interruptible`.
struct Surroundings: Sendable {
  /// The serial queue in which the call takes its turn.
  let queue: SerialQueue
  /// The control that holds the call from outside.
  let control: CallControl?
  /// The attempts beside a slow one.
  let hedging: Hedging
  /// The steps that see the call once.
  let callSteps: [any PerCallStep]
  /// The steps that see every attempt, the outermost first.
  let attemptSteps: [any PerAttemptStep]
  /// True where the transport cannot be told to end an exchange.
  let isTransportDeaf: Bool

  /// True when the call has nothing of it.
  private var isEmpty: Bool {
    queue.name == nil && control == nil && hedging.isNone && callSteps.isEmpty && attemptSteps.isEmpty
      && !isTransportDeaf
  }

  /// Nil where there is nothing that may wait around the attempts.
  init?(_ plan: TaskPlan, _ snapshot: ServerSnapshot, _ delivery: Delivery) {
    let configuration = snapshot.configuration
    queue = plan.serialQueue
    control = plan.control
    // A file or a reader cannot take one body from two.
    hedging = !delivery.isInMemory ? .none : plan.hedging.isInherited ? configuration.hedging : plan.hedging
    callSteps = configuration.perCallSteps
    var steps = configuration.perAttemptSteps
    if let control { steps.insert(PauseStep(gate: control.gate), at: 0) }
    if configuration.waitsForConnectivity {
      let allowance = ConnectivityAllowance(configuration.connectivityTimeout)
      let (reachability, clock) = (configuration.reachability, plan.server.manager.clock)
      steps.append(ConnectivityWait(reachability: reachability, allowance: allowance, clock: clock))
    }
    attemptSteps = steps
    isTransportDeaf = plan.server.cancellableTransport == nil
    if isEmpty { return nil }
  }
}
