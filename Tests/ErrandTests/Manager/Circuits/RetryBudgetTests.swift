import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct RetryBudgetTests {
  private let a: Origin
  private let b: Origin

  init() throws {
    a = try #require(URL(string: "https://shop.test").flatMap { Origin($0) })
    b = try #require(URL(string: "https://b.test").flatMap { Origin($0) })
  }

  @Test func `starts with ten retries and adds one retry per five calls`() {
    var accounts = RetryAccounts(.standard)
    #expect((0..<11).map { _ in accounts.spend(for: a) } == Array(repeating: true, count: 10) + [false])
    for _ in 0..<4 { accounts.earn(for: a) }
    #expect(accounts.spend(for: a) == false)
    accounts.earn(for: a)
    #expect([accounts.spend(for: a), accounts.spend(for: a)] == [true, false])
    #expect(accounts.spend(for: b) == true, "each host has its own budget")
  }

  @Test func `the budget never exceeds its capacity`() {
    var accounts = RetryAccounts(RetryBudget(ratio: 0.5, capacity: 2))
    for _ in 0..<100 { accounts.earn(for: a) }
    #expect(accounts.left(for: a) == 2)
    #expect((0..<3).map { _ in accounts.spend(for: a) } == [true, true, false])
    for _ in 0..<100 { accounts.earn(for: a) }
    #expect(accounts.left(for: a) == 2)
  }

  @Test func `each first attempt adds the configured ratio to the budget`() {
    for (ratio, calls) in [(0.5, 2), (0.1, 10), (1, 1), (7, 1)] {
      var accounts = RetryAccounts(RetryBudget(ratio: ratio, capacity: 1))
      #expect(accounts.spend(for: a) == true)
      for _ in 1..<calls {
        accounts.earn(for: a)
        #expect(accounts.spend(for: a) == false, "\(ratio)")
      }
      accounts.earn(for: a)
      #expect(accounts.spend(for: a) == true, "\(ratio)")
    }
  }

  @Test func `forgets a host when its budget is full again`() {
    var accounts = RetryAccounts(.standard)
    for host in [a, b] { #expect(accounts.spend(for: host) == true) }
    for _ in 0..<5 { accounts.earn(for: a) }
    #expect(accounts.hostCount == 1 && accounts.left(for: a) == 10 && accounts.left(for: b) == 9)
  }

  @Test func `extreme values neither trap nor yield a negative budget`() {
    var budgets = [RetryBudget(ratio: .nan, capacity: .max), RetryBudget(ratio: -.infinity, capacity: .min)]
    budgets += [RetryBudget(ratio: .greatestFiniteMagnitude, capacity: .max)]
    for index in budgets.indices {
      var (changed, accounts) = (RetryBudget(), RetryAccounts(budgets[index]))
      (changed.ratio, changed.capacity) = [(.nan, .max), (-1, .min), (.greatestFiniteMagnitude, .max)][index]
      for accounts in [accounts, RetryAccounts(changed)] { #expect(accounts.left(for: a) >= 0) }
      #expect(accounts.spend(for: a) == (budgets[index].capacity > 0))
      accounts.earn(for: a)
      #expect(accounts.left(for: a) >= 0)
    }
  }

  @Test func `a failing host receives at most 1.2 requests per call, plus ten more`() async throws {
    let shop = VirtualShop(.autoAdvancing, budget: .standard) { _, request, _ in .unavailable(request) }
    for _ in 0..<300 { await #expect(throws: TaskError.self) { try await shop.task().run() } }
    #expect((360...370).contains(shop.sentCount))
    #expect(shop.manager.retriesLeft(for: a) < 1)
    #expect(shop.events.isBalanced)
  }

  @Test func `the record says that the budget is exhausted`() async throws {
    let shop = VirtualShop(.autoAdvancing, budget: RetryBudget(ratio: 0, capacity: 1)) { _, request, _ in
      .unavailable(request)
    }
    let error = try #require(await taskError { try await shop.task().retry(.attempts(6)).run() })
    #expect(error.code == .badStatus && error.attempts.count == 2)
    #expect(error.description.contains("gave up after 2 of 6 attempts: the retry budget for shop.test is exhausted"))
    #expect(error.record.description.contains("the retry budget for shop.test is exhausted"))
  }

  /// The reasons why a retry that was already charged is not sent.
  enum Obstacle: CaseIterable, Sendable {
    case cancelled, cancelledInLine, rebuilt, circuit, full
  }

  @Test(arguments: Obstacle.allCases) func `a retry that is not sent costs no budget`(obstacle: Obstacle) async throws {
    let builds = Counter()
    let breaker = CircuitBreaker(minimumCalls: 2)
    let shop = VirtualShop(
      budget: .standard,
      configure: { configuration in
        if obstacle == .circuit { configuration.circuitBreaker = breaker }
        guard obstacle == .rebuilt else { return }
        configuration.preflight = { _, _ in
          builds.add()
          if builds.count > 1 { throw TaskError(.badRequest, "no more", phase: .preparing) }
        }
      },
      answer: { number, request, clock in
        if number > 1 { try await CallClock(clock).sleep(for: .seconds(1000)) }
        return .unavailable(request)
      })
    let call = Task { try await shop.task("first").retry(upTo: 2, after: .seconds(5)).run() }
    await shop.clock.sleepers(count: 1)
    #expect(shop.manager.retriesLeft(for: a) == 9)
    var others: [Task<HTTPResponse, any Error>] = []
    switch obstacle {
    case .cancelled: call.cancel()
    case .rebuilt: shop.clock.advance(by: .seconds(5))
    case .circuit:
      try shop.manager.circuits.permit(for: a, breaker).end(.failure)
      shop.clock.advance(by: .seconds(5))
    case .cancelledInLine, .full:
      await shop.manager.setLimits(ThrottleLimits(perHost: 1, maximumWaiting: 1))
      for count in 1...(obstacle == .full ? 2 : 1) {
        others.append(Task { try await shop.task().run() })
        #expect(await eventually { shop.manager.runningCount + shop.manager.waitingCount == count })
      }
      await shop.clock.pass(.seconds(5), sleepers: 2)
      if obstacle == .cancelledInLine {
        #expect(await eventually { shop.manager.waitingCount == 1 })
        call.cancel()
      }
    }
    await #expect(throws: (any Error).self) { try await call.value }
    #expect(shop.manager.retriesLeft(for: a) == 10)
    for other in others { other.cancel() }
    for other in others { await #expect(throws: CancellationError.self) { try await other.value } }
  }

  @Test func `a call that the circuit breaker rejects does not add to the retry budget`() async throws {
    let breaker = CircuitBreaker(minimumCalls: 1, openDuration: .seconds(20), probes: 1)
    let shop = VirtualShop(budget: RetryBudget(ratio: 1, capacity: 10), configure: { $0.circuitBreaker = breaker }) {
      _, request, clock in
      try await CallClock(clock).sleep(for: .seconds(1000))
      return .ok(request)
    }
    for _ in 0..<10 { shop.manager.retries.pay(for: a)?.use() }
    try shop.manager.circuits.permit(for: a, breaker).end(.failure)
    shop.clock.advance(by: .seconds(20))
    let probe = Task { try await shop.task("first").retry(.never).run() }
    await shop.clock.sleepers(count: 1)
    #expect(shop.manager.retriesLeft(for: a) == 1)
    let error = await taskError { try await shop.task("second").retry(.never).run() }
    #expect(error?.code == .circuitOpen && shop.manager.retriesLeft(for: a) == 1)
    probe.cancel()
    _ = await probe.result
  }

  @Test func `a retry that was not sent and the retry that follows it cost one retry`() async throws {
    let shop = VirtualShop(.autoAdvancing, budget: .standard) { number, request, _ in
      if number == 2 { throw TaskError(.cannotConnect, "refused", phase: .connecting, wasNotSent: true) }
      return number < 4 ? .unavailable(request) : .ok(request)
    }
    try await shop.task().retry(upTo: 5, after: .seconds(1)).run()
    #expect(
      shop.sentCount == 4 && shop.manager.retriesLeft(for: a) == 8,
      "three requests were sent, two of which were retries")
  }

  @Test func `without a budget, only the policy limits retries`() async throws {
    let shop = VirtualShop(.autoAdvancing, budget: .unlimited) { _, request, _ in .unavailable(request) }
    for _ in 0..<50 { await #expect(throws: TaskError.self) { try await shop.task().run() } }
    #expect(shop.sentCount == 150)
  }

  @Test func `four calls with seven retries start and end eleven attempts`() async throws {
    let failures = Shared<[String: Int]>(["/0": 0, "/1": 1, "/2": 2, "/3": 4])
    let shop = VirtualShop(.autoAdvancing, budget: .standard) { _, request, _ in
      let mustFail = failures.withLock { failures in
        let left = failures[request.url.path, default: 0]
        failures[request.url.path] = left - 1
        return left > 0
      }
      return mustFail ? .unavailable(request) : .ok(request)
    }
    for path in 0..<4 { try await shop.task("\(path)").retry(upTo: 4, after: .seconds(1)).run() }
    let moments = shop.events.events.map(\.moment)
    #expect(moments.filter { if case .attemptStarted = $0 { true } else { false } }.count == 11)
    #expect(moments.filter { if case .attemptEnded = $0 { true } else { false } }.count == 11)
    #expect(moments.filter { if case .delayStarted = $0 { true } else { false } }.count == 7)
    #expect(shop.events.isBalanced)
  }
}
