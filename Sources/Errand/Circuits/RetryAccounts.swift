/// The rest of every host's ``RetryBudget``, pure.
///
/// Counted in thousandths, so that five times a fifth is one. A host whose account is full is not kept: that of a
/// healthy host costs nothing.
struct RetryAccounts {
  private static let whole = 1000
  /// The most hosts with an account: those that fail and are never called again would stay.
  static let mostHosts = 1024

  /// The largest capacity that is counted: more than is ever used up.
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

  /// Credits a first attempt to `host`.
  mutating func earn(for host: Origin) {
    guard !used.isEmpty, let present = used[host] else { return }
    used[host] = present > deposit ? present - deposit : nil
  }

  /// Gives one repetition back to `host` that was not made after all.
  mutating func giveBack(for host: Origin) {
    guard let present = used[host] else { return }
    used[host] = present > Self.whole ? present - Self.whole : nil
  }

  /// Takes one repetition from the budget of `host`; false when it is used up.
  mutating func spend(for host: Origin) -> Bool {
    if isUnlimited { return true }
    let present = used[host] ?? 0
    guard present + Self.whole <= capacity else { return false }
    if present == 0, used.count >= Self.mostHosts { forgetFullest() }
    used[host] = present + Self.whole
    return true
  }

  /// Forgets the half of the accounts that have been used least.
  private mutating func forgetFullest() {
    let middle = used.values.sorted()[used.count / 2]
    used = used.filter { $0.value > middle }
  }

  /// The number of hosts whose accounts are not full.
  var hostCount: Int { used.count }

  /// The number of repetitions left for `host`.
  func left(for host: Origin) -> Double {
    isUnlimited ? .infinity : Double(capacity - (used[host] ?? 0)) / Double(Self.whole)
  }
}

/// Keeps the retry budgets of all hosts: the owner of ``RetryAccounts``.
final class RetryDesk: Sendable {
  private let accounts: Lock<RetryAccounts>

  init(_ budget: RetryBudget) { accounts = Lock(RetryAccounts(budget)) }

  /// Credits a first attempt to `host`.
  func earn(for host: Origin) { accounts.withLock { $0.earn(for: host) } }

  /// Takes one repetition from the budget of `host`; false when it is used up.
  func spend(for host: Origin) -> Bool { accounts.withLock { $0.spend(for: host) } }

  /// The same, for a repetition that may come to nothing; nil where the budget is used up.
  func pay(for host: Origin) -> RetryPayment? { spend(for: host) ? RetryPayment(self, host) : nil }

  /// Gives one repetition back to `host` that was not made after all.
  func giveBack(for host: Origin) { accounts.withLock { $0.giveBack(for: host) } }

  /// The number of repetitions left for `host`.
  func left(for host: Origin) -> Double { accounts.withLock { $0.left(for: host) } }
}
