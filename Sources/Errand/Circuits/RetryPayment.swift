/// A retry taken from a host's budget. It is returned with the last reference, unless it was used.
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
