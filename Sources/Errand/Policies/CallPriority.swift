/// The order of calls that wait for a slot.
public enum CallPriority: Int, Sendable, Hashable, Comparable, CaseIterable {
  /// After all others.
  case background
  /// After those that a user is looking at.
  case low
  /// In the order of arrival.
  case normal
  /// Before the usual.
  case high
  /// Before all others.
  case urgent

  /// Less urgent before more.
  public static func < (left: CallPriority, right: CallPriority) -> Bool { left.rawValue < right.rawValue }
}
