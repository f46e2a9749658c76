/// A limit on the repetitions per host, in proportion to its first attempts.
///
/// Every first attempt earns a part of a repetition; a retry, or a hedge, costs a whole one, unless nothing was sent. A host that
/// fails every request gets 20 % extra load instead of three times the load. Once the budget is used up failures stand, and the
/// flight record says why.
public struct RetryBudget: Sendable, Hashable {
  /// The repetitions that every first attempt earns.
  public var ratio: Double { didSet { ratio = max(0, ratio) } }
  /// The most repetitions that may be saved up; so many are there at first.
  public var capacity: Int { didSet { capacity = max(0, capacity) } }

  /// A budget.
  ///
  /// - Parameters:
  ///   - ratio: The repetitions that every first attempt earns.
  ///   - capacity: The most repetitions that may be saved up; so many are there at first.
  public init(ratio: Double = 0.2, capacity: Int = 10) {
    self.ratio = max(0, ratio)
    self.capacity = max(0, capacity)
  }

  /// A repetition for every five calls, and at most ten saved up.
  public static let standard = RetryBudget()

  /// No budget: policies alone decide.
  public static let unlimited = RetryBudget(ratio: .infinity)

  var isUnlimited: Bool { ratio == .infinity }
}
