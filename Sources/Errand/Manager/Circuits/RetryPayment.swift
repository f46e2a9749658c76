/// A retry taken from a host's budget. Unless it is used, it is returned when the last reference is released.
final class RetryPayment: Sendable {
  private let budgets: RetryBudgets
  private let host: Origin
  private let isOver = Flag()

  init(_ budgets: RetryBudgets, _ host: Origin) {
    self.budgets = budgets
    self.host = host
  }

  deinit {
    if isOver.end() { budgets.giveBack(for: host) }
  }

  func use() { isOver.end() }
}
