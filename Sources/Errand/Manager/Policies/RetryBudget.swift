/// Limits retries and hedges per host, in proportion to the number of first attempts.
///
/// Every first attempt adds ``ratio`` to the budget. A retry or hedge costs 1, unless nothing was sent. With the
/// standard budget, a host that fails every request receives 20% more requests, not three times as many. When the
/// budget is used up, failures are not retried, and the flight record shows the reason.
public struct RetryBudget: Sendable, Hashable {
  /// The number of retries that each first attempt adds to the budget.
  public var ratio: Double { didSet { ratio = max(0, ratio) } }
  /// The maximum number of retries that can be saved up. The budget starts full.
  public var capacity: Int { didSet { capacity = max(0, capacity) } }

  /// Creates a budget. Defaults to ``standard``.
  public init(ratio: Double = 0.2, capacity: Int = 10) {
    self.ratio = max(0, ratio)
    self.capacity = max(0, capacity)
  }

  /// Allows one retry for every five calls, with at most ten saved up.
  public static let standard = RetryBudget()

  /// No limit: only the retry policies apply.
  public static let unlimited = RetryBudget(ratio: .infinity)

  var isUnlimited: Bool { ratio == .infinity }
}
