/// A repetition that was taken from the budget of a host. It goes back with the last reference, unless it was used.
final class RetryPayment: Sendable {
  private let desk: RetryDesk
  private let host: Origin
  private let isUsed = Lock(false)

  init(_ desk: RetryDesk, _ host: Origin) {
    self.desk = desk
    self.host = host
  }

  deinit {
    if !isUsed.withLock({ $0 }) { desk.giveBack(for: host) }
  }

  /// Uses it up: the host was sent what it is for.
  func use() { isUsed.withLock { $0 = true } }
}
