/// Who runs and who waits in a manager, at one moment.
///
///     print(shop.manager.throttle.waiting)
public struct ThrottleSnapshot: Sendable, Hashable {
  /// The same for one host.
  public struct Host: Sendable, Hashable {
    /// The attempts that hold a slot.
    public internal(set) var running = 0
    /// The attempts that wait for one, or for a stream.
    public internal(set) var waiting = 0
    /// The bodies that callers read as they come.
    public internal(set) var streams = 0
  }

  /// The limits that hold.
  public let limits: ThrottleLimits
  /// The attempts that hold a slot.
  public internal(set) var running: Int
  /// The attempts that wait for one, or for a stream.
  public internal(set) var waiting: Int
  /// The bodies that callers read as they come.
  public internal(set) var streams = 0
  /// The hosts for which somebody runs, waits or reads.
  public internal(set) var hosts: [Origin: Host]

  /// This, and those who wait for a stream.
  func adding(waitingForStreams other: ThrottleSnapshot) -> ThrottleSnapshot {
    var sum = self
    sum.waiting += other.waiting
    for (host, counts) in other.hosts where counts.waiting > 0 {
      sum.hosts[host, default: Host()].waiting += counts.waiting
    }
    return sum
  }
}
