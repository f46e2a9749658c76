/// The remaining ``RetryBudget`` of every host.
///
/// Budgets are counted in thousandths, so that five deposits of 0.2 add up to exactly one retry. Hosts with a full
/// budget are not stored, so a healthy host costs nothing.
struct RetryAccounts {
  private static let whole = 1000
  /// The maximum number of stored hosts. Without this limit, hosts that failed and are never called again would be
  /// stored forever.
  static let mostHosts = 1024

  /// The maximum capacity, which is more than any host uses up.
  private static let mostRepetitions = 1_000_000_000

  private let deposit: Int
  private let capacity: Int
  private let isUnlimited: Bool
  private var used: [Origin: Int] = [:]

  init(_ budget: RetryBudget) {
    isUnlimited = budget.isUnlimited
    let repetitions = min(budget.capacity, Self.mostRepetitions)
    capacity = repetitions * Self.whole
    deposit = isUnlimited ? 0 : Int(min(budget.ratio, Double(repetitions)) * Double(Self.whole))
  }

  mutating func earn(for host: Origin) {
    guard !used.isEmpty, let present = used[host] else { return }
    used[host] = present > deposit ? present - deposit : nil
  }

  /// Returns an unused retry to the budget.
  mutating func giveBack(for host: Origin) {
    guard let present = used[host] else { return }
    used[host] = present > Self.whole ? present - Self.whole : nil
  }

  /// Takes a retry from the budget. Returns `false` if the budget is used up.
  mutating func spend(for host: Origin) -> Bool {
    if isUnlimited { return true }
    let present = used[host] ?? 0
    guard present + Self.whole <= capacity else { return false }
    if present == 0, used.count >= Self.mostHosts { forgetFullest() }
    used[host] = present + Self.whole
    return true
  }

  /// Removes the half of the hosts that have used the least of their budget.
  private mutating func forgetFullest() {
    let middle = used.values.sorted()[used.count / 2]
    used = used.filter { $0.value > middle }
  }

  var hostCount: Int { used.count }

  func left(for host: Origin) -> Double {
    isUnlimited ? .infinity : Double(capacity - (used[host] ?? 0)) / Double(Self.whole)
  }
}

/// The retry budgets of all hosts.
package final class RetryBudgets: Sendable {
  private let accounts: Lock<RetryAccounts>

  init(_ budget: RetryBudget) { accounts = Lock(RetryAccounts(budget)) }

  func earn(for host: Origin) { accounts.withLock { $0.earn(for: host) } }

  package func spend(for host: Origin) -> Bool { accounts.withLock { $0.spend(for: host) } }

  /// Takes a retry, which is returned to the budget if it is not used. Returns `nil` if the budget is used up.
  func pay(for host: Origin) -> RetryPayment? { spend(for: host) ? RetryPayment(self, host) : nil }

  func giveBack(for host: Origin) { accounts.withLock { $0.giveBack(for: host) } }

  func left(for host: Origin) -> Double { accounts.withLock { $0.left(for: host) } }
}
