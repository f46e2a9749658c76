/// Who runs and who waits in a manager, at one moment.
///
///     print(shop.manager.throttle.waiting)
public struct ThrottleSnapshot: Sendable, Hashable {
  /// The same for one host.
  public struct Host: Sendable, Hashable {
    /// The attempts that hold a slot.
    public let running: Int
    /// The attempts that wait for one.
    public let waiting: Int
  }

  /// The limits that hold.
  public let limits: ThrottleLimits
  /// The attempts that hold a slot.
  public let running: Int
  /// The attempts that wait for one.
  public let waiting: Int
  /// The hosts for which somebody runs or waits.
  public let hosts: [Origin: Host]
}
