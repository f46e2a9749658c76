/// How many attempts may begin in a time, for each host; attempts beyond it wait.
///
///     TaskManager(limits: ThrottleLimits(rate: RateLimit(100, per: .seconds(60))))
public struct RateLimit: Sendable, Hashable {
  /// How many may begin in ``period``, in the long run; 0 is no limit.
  public var count: Int
  /// The time that ``count`` is for.
  public var period: Duration
  /// How many may begin at once after a pause.
  public var burst: Int

  /// So many in a time.
  ///
  /// - Parameters:
  ///   - count: How many may begin in `period`.
  ///   - period: The time.
  ///   - burst: How many may begin at once after a pause; `count` unless given.
  public init(_ count: Int, per period: Duration, burst: Int? = nil) {
    self.count = max(0, count)
    self.period = max(.zero, period)
    self.burst = max(1, burst ?? count)
  }

  /// No limit.
  public static let none = RateLimit(0, per: .zero)

  var isNone: Bool { count == 0 || period == .zero }

  /// The time after which one more may begin.
  var interval: Duration { period / max(1, count) }
}
