import Errand
import ErrandFoundation
import ErrandTesting

/// Calls a server with random faults in virtual time, with different countermeasures. Prints a line for each run.
struct ChaosScenario: Scenario {
  let defaultRequests = 10_000
  let defaultConcurrency = 64
  let isEmbedded = true

  func run(_ options: BenchOptions) async throws -> any BenchReport {
    var report = ChaosReport(requests: options.requests, seed: options.seed)
    for rate in [0.25, 0.8] {
      for means in ChaosMeans.allCases {
        let run = ChaosCalls(Chaos(seed: UInt64(options.seed), rate: rate), means, workers: options.concurrency)
        report.rows.append(try await run.measured(options.requests, rate))
      }
    }
    return report
  }
}

enum ChaosMeans: String, CaseIterable, Sendable {
  case none
  case retries
  case retriesAndHedging
  case all

  func apply(to configuration: inout ServerConfiguration) {
    configuration.retryPolicy = self == .none ? .never : .standard
    configuration.retryPolicy.baseDelay = .milliseconds(100)
    if self == .retriesAndHedging || self == .all { configuration.hedging = .after(.milliseconds(450)) }
    if self == .all {
      configuration.circuitBreaker = CircuitBreaker(
        window: .seconds(10), minimumCalls: 20, failureRatio: 0.5, openDuration: .seconds(1))
    }
  }
}

private final class CountingTransport: Transport {
  private let base: StubTransport
  private let sent = Shared(0)

  init(_ base: StubTransport) { self.base = base }

  var count: Int { sent.withLock { $0 } }
  var checksAddresses: Bool { true }

  func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    sent.withLock { $0 += 1 }
    return try await base.send(request)
  }
}

/// The calls of a run. A call that the circuit breaker refuses is followed by a pause of a second.
private struct ChaosCalls: Sendable {
  let clock = ManualClock(.whenIdle)
  let transport: CountingTransport
  let server: Server
  let means: ChaosMeans
  let workers: Int

  init(_ chaos: Chaos, _ means: ChaosMeans, workers: Int) {
    let callClock = CallClock(clock)
    transport = CountingTransport(StubTransport(.text("whole"), chaos: chaos, clock: callClock))
    server = Server(
      "https://shop.test", transport: transport,
      manager: TaskManager(
        limits: ThrottleLimits(perHost: workers), retryBudget: RetryBudget(ratio: 1, capacity: 1_000_000),
        clock: callClock),
      asDefault: false
    ) {
      $0.log = .discard
      $0.timeouts.firstByte = .seconds(3)
      means.apply(to: &$0)
    }
    (self.means, self.workers) = (means, workers)
  }

  func measured(_ count: Int, _ rate: Double) async throws -> ChaosReport.Row {
    let times = await withTaskGroup(of: [Duration?].self) { group in
      for worker in 0..<workers {
        group.addTask {
          var times: [Duration?] = []
          for number in stride(from: worker, to: count, by: workers) { times.append(await time(number)) }
          return times
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
    let successes = times.compactMap(\.self).sorted()
    guard let last = successes.last else { throw BenchError("no call succeeded") }
    return ChaosReport.Row(
      faults: rate, means: means.rawValue, succeeded: Double(successes.count) / Double(count),
      requestsPerCall: Double(transport.count) / Double(count), median: successes[successes.count / 2],
      p99: successes.dropFirst(successes.count * 99 / 100).first ?? last)
  }

  /// Returns the duration of a call, or `nil` if it failed.
  private func time(_ number: Int) async -> Duration? {
    do {
      let response: TaskResponse<Data> = try await server.response(.get("widgets/\(number)"))
      return response.metrics.elapsed
    } catch {
      if (error as? TaskError)?.code == .circuitOpen { try? await clock.sleep(for: .seconds(1)) }
      return nil
    }
  }
}

struct ChaosReport: BenchReport {
  struct Row: Sendable {
    let faults: Double
    let means: String
    let succeeded: Double
    let requestsPerCall: Double
    let median: Duration
    let p99: Duration
  }

  let requests: Int
  let seed: Int
  var rows: [Row] = []

  var description: String {
    rows.map { row in
      """
      {"client":"errand","scenario":"chaos","requests":\(requests),"seed":\(seed),"faults":\(row.faults),\
      "means":"\(row.means)","succeeded":\(row.succeeded),"requestsPerCall":\(row.requestsPerCall),\
      "medianSeconds":\(row.median / .seconds(1)),"p99Seconds":\(row.p99 / .seconds(1))}
      """
    }.joined(separator: "\n")
  }
}
