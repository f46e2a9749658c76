/// How many attempts may be under way at once, and how those wait that may not; 0 is no limit.
public struct ThrottleLimits: Sendable, Hashable {
  /// For one scheme, host and port.
  public var perHost: Int
  /// For all of them together.
  public var total: Int
  /// How many may wait; whoever comes then fails at once with code `.queueFull`.
  public var maximumWaiting: Int
  /// How long a waiter waits until it counts as one priority higher, so that none waits for ever; 0 is never.
  public var ageing: Duration
  /// How many may begin in a time, for each host.
  public var rate: RateLimit

  /// Ten a host and no other limit, unless given.
  public init(
    perHost: Int = 10, total: Int = 0, maximumWaiting: Int = 0, ageing: Duration = .seconds(10),
    rate: RateLimit = .none
  ) {
    self.perHost = perHost
    self.total = total
    self.maximumWaiting = maximumWaiting
    self.ageing = ageing
    self.rate = rate
  }

  /// No limits.
  public static let unlimited = ThrottleLimits(perHost: 0, total: 0)
}
