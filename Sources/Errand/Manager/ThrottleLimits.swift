/// How many attempts may be under way at once; 0 is no limit.
public struct ThrottleLimits: Sendable, Hashable {
  /// For one scheme, host and port.
  public var perHost: Int
  /// For all of them together.
  public var total: Int

  /// Ten a host and no limit overall, unless given.
  public init(perHost: Int = 10, total: Int = 0) {
    self.perHost = perHost
    self.total = total
  }

  /// No limits.
  public static let unlimited = ThrottleLimits(perHost: 0, total: 0)
}
