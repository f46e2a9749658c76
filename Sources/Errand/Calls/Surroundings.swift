/// The parts of a call that may wait around its attempts. A call that has any runs in a Swift task of its own, and a
/// cancellation from outside cancels that.
///
/// A call without them runs in the task of its caller, which must not be cancelled. It then waits for one thing at a time,
/// and each is told to end: the exchange by its transport, all else by a task of its own (``Call/interruptible(_:)``).
/// A new feature that waits around attempts is a property here; every other wait goes through `interruptible`.
final class Surroundings: Sendable {
  /// The serial queue in which the call takes its turn.
  let queue: SerialQueue
  /// The control that holds the call from outside.
  let control: CallControl?
  /// The attempts beside a slow one.
  let hedging: Hedging
  /// True where the call joins another one that sends the same request.
  let coalesces: Bool
  /// The cache, and its use by the call.
  let caching: Caching?
  /// The steps that see the call once.
  let callSteps: [any PerCallStep]
  /// The steps of the app that see every attempt, the outermost first.
  let attemptSteps: [any PerAttemptStep]
  /// The step that waits for a network; nil where calls do not.
  let connectivity: ConnectivityWait?
  /// Told of the bytes of bodies as they go up and come down; nil without an observer of progress.
  let progress: (@Sendable (TransferProgress) -> Void)?
  /// The way in which requests are signed in; nil where nothing does.
  let authentication: Authentication?

  private init(
    queue: SerialQueue, control: CallControl?, hedging: Hedging, coalesces: Bool, caching: Caching?,
    callSteps: [any PerCallStep], attemptSteps: [any PerAttemptStep], connectivity: ConnectivityWait?,
    progress: (@Sendable (TransferProgress) -> Void)?,
    authentication: Authentication?
  ) {
    self.queue = queue
    self.control = control
    self.hedging = hedging
    self.coalesces = coalesces
    self.caching = caching
    self.callSteps = callSteps
    self.attemptSteps = attemptSteps
    self.connectivity = connectivity
    self.progress = progress
    self.authentication = authentication
  }

  /// True when there is a step that sees every attempt.
  var hasAttemptSteps: Bool {
    !attemptSteps.isEmpty || authentication != nil || connectivity != nil
  }

  /// The surroundings of a call; nil where there is nothing that may wait around its attempts.
  ///
  /// Every call comes here, and most have none: a part is looked at in its place, and nothing made before it is known that there
  /// is any. A plan is no argument of the initialiser, which would copy it.
  static func of(
    _ plan: TaskPlan, _ snapshot: ServerSnapshot, _ delivery: Delivery, _ trace: CallTrace
  ) -> Surroundings? {
    let hedging = hedging(plan, snapshot, delivery)
    let coalesces = coalesces(plan, snapshot, delivery)
    let authentication = authentication(plan, snapshot)
    guard
      plan.serialQueue.name != nil || plan.control != nil || plan.server.cancellableTransport == nil || !hedging.isNone
        || coalesces
        || mayCache(plan, snapshot) || authentication != nil || snapshot.configuration.waitsForConnectivity
        || plan.progress != nil || snapshot.tellsProgress || !snapshot.configuration.perCallSteps.isEmpty
        || !snapshot.configuration.perAttemptSteps.isEmpty
    else { return nil }
    return Surroundings(
      queue: plan.serialQueue, control: plan.control, hedging: hedging, coalesces: coalesces,
      caching: caching(plan, snapshot), callSteps: snapshot.configuration.perCallSteps,
      attemptSteps: attemptSteps(plan, snapshot), connectivity: connectivity(plan, snapshot),
      progress: teller(plan, snapshot.tellsProgress ? trace : nil),
      authentication: authentication)
  }

  private static func hedging(_ plan: TaskPlan, _ snapshot: ServerSnapshot, _ delivery: Delivery) -> Hedging {
    guard delivery.isInMemory else { return .none }  // a file or a reader cannot take one body from two
    return plan.hedging.isInherited ? snapshot.configuration.hedging : plan.hedging
  }

  private static func coalesces(_ plan: TaskPlan, _ snapshot: ServerSnapshot, _ delivery: Delivery) -> Bool {
    snapshot.configuration.coalescesRequests && delivery.isShareable && plan.keepsToServer && plan.progress == nil
  }

  private static func authentication(_ plan: TaskPlan, _ snapshot: ServerSnapshot) -> Authentication? {
    let authentication =
      plan.authentication.isInherited ? snapshot.configuration.authentication : plan.authentication
    if authentication.isNone { return nil }
    // Once, as the call begins: a refresh that it is part of may end before it does.
    let rest = authentication.outsideOfRefreshes
    return rest.isNone ? nil : rest
  }

  private static func attemptSteps(_ plan: TaskPlan, _ snapshot: ServerSnapshot) -> [any PerAttemptStep] {
    snapshot.configuration.perAttemptSteps
  }

  private static func connectivity(_ plan: TaskPlan, _ snapshot: ServerSnapshot) -> ConnectivityWait? {
    let configuration = snapshot.configuration
    guard configuration.waitsForConnectivity else { return nil }
    return ConnectivityWait(
      reachability: configuration.reachability, allowance: ConnectivityAllowance(configuration.connectivityTimeout),
      clock: plan.server.manager.clock)
  }

  /// The closure that reports the call's progress to the task, its handle and its observers; nil without any.
  private static func teller(_ plan: TaskPlan, _ trace: CallTrace?) -> (@Sendable (TransferProgress) -> Void)? {
    let (own, control) = (plan.progress, plan.control)
    guard own != nil || control != nil || trace != nil else { return nil }
    return { progress in
      own?(progress)
      control?.onProgress(progress)
      trace?.tell(progress)
    }
  }
}
