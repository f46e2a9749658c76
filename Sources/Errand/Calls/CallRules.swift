/// The settings of a call that come from its task, its server and its delivery together. They are resolved once, when the call begins.
struct CallRules: Sendable {
  /// Whether and when a slow attempt is hedged.
  let hedging: Hedging
  /// Whether the call joins another one that sends the same request.
  let coalesces: Bool
  /// The cache, and its use by the call; `nil` without one.
  let caching: Caching?
  /// Waits for a network; `nil` if the call does not wait for one.
  let connectivity: ConnectivityWait?
  /// Reports the bytes of bodies to the task, its handle and its observers; `nil` without any.
  let progress: (@Sendable (TransferProgress) -> Void)?
  /// The authentication of its requests; `nil` without one.
  let authentication: Authentication?

  // Not an initializer, which would copy the plan and the snapshot: every call comes here.
  static func of(
    _ plan: TaskPlan, _ snapshot: ServerSnapshot, _ delivery: BodyDestination, _ trace: CallTrace
  ) -> CallRules {
    CallRules(
      hedging: hedging(plan, snapshot, delivery),
      coalesces: snapshot.configuration.coalescesRequests && delivery.isShareable && plan.keepsToServer
        && plan.progress == nil,
      caching: Caching.of(plan, snapshot), connectivity: connectivity(plan, snapshot),
      progress: progress(plan, snapshot.tellsProgress ? trace : nil), authentication: authentication(plan, snapshot))
  }

  private static func hedging(_ plan: TaskPlan, _ snapshot: ServerSnapshot, _ delivery: BodyDestination) -> Hedging {
    guard delivery.isInMemory else { return .none }  // a file or a reader cannot take one body from two
    return plan.hedging.isInherited ? snapshot.configuration.hedging : plan.hedging
  }

  private static func authentication(_ plan: TaskPlan, _ snapshot: ServerSnapshot) -> Authentication? {
    let authentication =
      plan.authentication.isInherited ? snapshot.configuration.authentication : plan.authentication
    if authentication.isNone { return nil }
    // Once, as the call begins: a refresh that it is part of may end before it does.
    let rest = authentication.outsideOfRefreshes
    return rest.isNone ? nil : rest
  }

  private static func connectivity(_ plan: TaskPlan, _ snapshot: ServerSnapshot) -> ConnectivityWait? {
    guard snapshot.configuration.waitsForConnectivity else { return nil }
    let configuration = snapshot.configuration
    return ConnectivityWait(
      reachability: configuration.reachability, allowance: ConnectivityAllowance(configuration.connectivityTimeout),
      clock: plan.server.manager.clock)
  }

  private static func progress(_ plan: TaskPlan, _ trace: CallTrace?) -> (@Sendable (TransferProgress) -> Void)? {
    let (own, control) = (plan.progress, plan.control)
    guard own != nil || control != nil || trace != nil else { return nil }
    return { progress in
      own?(progress)
      control?.onProgress(progress)
      trace?.tell(progress)
    }
  }
}
