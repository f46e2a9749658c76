/// A retry taken from a host's budget. Unless it is used, it is returned when the last reference is released.
final class RetryPayment: Sendable {
  private let desk: RetryBudgets
  private let host: Origin
  private let isUsed = Lock(false)

  init(_ desk: RetryBudgets, _ host: Origin) {
    self.desk = desk
    self.host = host
  }

  deinit {
    if !isUsed.withLock({ $0 }) { desk.giveBack(for: host) }
  }

  func use() { isUsed.withLock { $0 = true } }
}
