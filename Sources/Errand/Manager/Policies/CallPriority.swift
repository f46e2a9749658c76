/// The priority of a call that waits for a slot.
public enum CallPriority: Int, Sendable, Hashable, Comparable, CaseIterable {
  /// Runs after all other calls.
  case background
  /// Runs after calls that a user is waiting for.
  case low
  /// The default. Calls with equal priority run first come, first served.
  case normal
  /// Runs before normal calls.
  case high
  /// Runs before all other calls.
  case urgent

  /// Whether the first priority is lower than the second.
  public static func < (left: CallPriority, right: CallPriority) -> Bool { left.rawValue < right.rawValue }
}
