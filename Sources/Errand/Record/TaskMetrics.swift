/// What a call took.
public struct TaskMetrics: Sendable {
  /// From the start of the call to its end, waiting and retries included.
  public var elapsed: Duration = .zero
  /// The time spent waiting for slots.
  public var queued: Duration = .zero
  /// The number of attempts; 0 when none was needed.
  public var attempts = 0
  /// What the last transfer took, where it was measured.
  public var timings: TransferTimings?

  package init() {}
}
