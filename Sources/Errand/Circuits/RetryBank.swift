/// Keeps the retry budgets of all hosts: the owner of ``RetryAccounts``.
final class RetryBank: Sendable {
  private let accounts: Lock<RetryAccounts>

  init(_ budget: RetryBudget) { accounts = Lock(RetryAccounts(budget)) }

  /// A first attempt goes to `host`.
  func earn(for host: Origin) { accounts.withLock { $0.earn(for: host) } }

  /// A repetition is to go to `host`; false when there is nothing left for it.
  func spend(for host: Origin) -> Bool { accounts.withLock { $0.spend(for: host) } }

  /// How many repetitions are left for `host`.
  func left(for host: Origin) -> Double { accounts.withLock { $0.left(for: host) } }
}
