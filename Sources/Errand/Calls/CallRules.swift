/// A call's settings, resolved from its task, its server and its destination when the call begins.
struct CallRules: Sendable {
  let hedging: Hedging
  /// Whether the call shares one request with identical concurrent calls.
  let coalesces: Bool
  let caching: Caching?
  let connectivity: ConnectivityWait?
  /// Reports progress to the task, its handle and its observers. `nil` if none of them needs it.
  let progress: (@Sendable (TransferProgress) -> Void)?
  let authentication: CallAuthentication?

  // This is a function because an initializer would copy the plan and the snapshot on every call.
  static func of(
    _ plan: TaskPlan, _ snapshot: ServerSnapshot, _ destination: BodyDestination, _ trace: CallTrace
  ) -> CallRules {
    CallRules(
      hedging: hedging(plan, snapshot, destination),
      coalesces: coalesces(plan, snapshot, destination),
      caching: Caching.of(plan, snapshot), connectivity: connectivity(plan, snapshot),
      progress: progress(plan, snapshot.reportsProgress ? trace : nil),
      // Resolve this now: if the call is part of a token refresh, that refresh may end before the call does.
      authentication: plan.authentication.inheriting(snapshot.authentication).ofCall)
  }

  private static func coalesces(_ plan: TaskPlan, _ snapshot: ServerSnapshot, _ destination: BodyDestination) -> Bool {
    snapshot.configuration.coalescesRequests
      && snapshot.configuration.perAttemptSteps.isEmpty  // a step may add the credentials of its call
      && destination.isShareable && plan.keepsToServer && plan.control == nil && plan.progress == nil
  }

  private static func hedging(_ plan: TaskPlan, _ snapshot: ServerSnapshot, _ destination: BodyDestination) -> Hedging {
    guard destination.isInMemory else { return .none }  // two responses can't share one file or reader
    return plan.hedging.isInherited ? snapshot.configuration.hedging : plan.hedging
  }

  private static func connectivity(_ plan: TaskPlan, _ snapshot: ServerSnapshot) -> ConnectivityWait? {
    guard snapshot.configuration.waitsForConnectivity else { return nil }
    let configuration = snapshot.configuration
    return ConnectivityWait(
      reachability: configuration.reachability, allowance: ConnectivityAllowance(configuration.connectivityTimeout),
      clock: plan.server.manager.clock, redaction: configuration.redaction)
  }

  private static func progress(_ plan: TaskPlan, _ trace: CallTrace?) -> (@Sendable (TransferProgress) -> Void)? {
    let (own, control) = (plan.progress, plan.control)
    guard own != nil || control != nil || trace != nil else { return nil }
    return { progress in
      own?(progress)
      control?.onProgress(progress)
      trace?.notify(progress)
    }
  }
}
