import Errand
import ErrandFoundation
import ErrandTesting
import ErrandTestingTraits
import Testing

/// Many calls on a server with retries, hedging and a circuit breaker, in virtual time.
///
/// The environment variable `ERRAND_CHAOS_COUNT` sets the number of calls for each of the 100 seeds, which defaults to
/// 500 in CI (`CI=true`) and to 100 elsewhere. With `ERRAND_CHAOS_SEED=7`, 10,000 take about 10 s.
@Suite(.timeLimit(.minutes(20)), .serialized) struct ChaosSurvivalTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let count =
    environment["ERRAND_CHAOS_COUNT"].flatMap { Int($0) } ?? (environment["CI"] == "true" ? 500 : 100)

  /// Whether four in five requests have a fault, so that the circuit opens. In other runs, one in four has a fault.
  private static func isHeavy(_ seed: UInt64) -> Bool { seed % 2 == 0 }

  @Test(.chaos(runs: 100) { Chaos(seed: $0, rate: isHeavy($0) ? 0.8 : 0.25) })
  func `calls with faults end and leave nothing behind`() async throws {
    let run = ChaosRun(.current)
    let results = await run.calls(Self.count, workers: 64)
    #expect(results.count == Self.count)
    let known: Set<String> = [
      "whole", "badStatus", "timedOut", "truncatedBody", "connectionLost", "badResponse", "circuitOpen",
    ]
    #expect(Set(results.values).subtracting(known) == [])
    if Self.count >= 500 {
      let kinds = Set(run.recorder.events.map(\.moment.kind))
      if Self.isHeavy(Chaos.current.seed) {
        #expect(results.values.contains("circuitOpen"))
      } else {
        #expect(kinds.isSuperset(of: ["hedgeSent", "delayEnded"]), "\(kinds)")
        #expect(results.values.count { $0 == "whole" } > Self.count / 2)
      }
    }

    await run.recorder.balanced()
    let manager = run.server.manager
    #expect(run.recorder.isBalanced, "\(run.recorder.problems.prefix(3))")
    #expect(await eventually { manager.runningCount == 0 && manager.waitingCount == 0 && manager.callCount == 0 })
    #expect(manager.throttle.hosts.isEmpty && manager.throttle.streams == 0)
    #expect(await eventually { run.clock.sleeperCount == 0 })
    #expect(run.surprises == [])
  }

  @Test(.chaos(runs: 20)) func `sequential calls with the same seed have the same events`() async throws {
    // A hedge races with the attempt before it, so the order of its events can vary.
    let (first, second) = (ChaosRun(.current) { $0.hedging = .none }, ChaosRun(.current) { $0.hedging = .none })
    for run in [first, second] {
      _ = await run.calls(100, workers: 1)
      await run.recorder.balanced()
    }
    let (moments, others) = (first.recorder.moments(), second.recorder.moments())
    let difference = zip(moments, others).first { $0 != $1 }
    #expect(moments.count == others.count && difference == nil, "\(String(describing: difference))")
    #expect(first.recorder.events.map(\.time) == second.recorder.events.map(\.time))
  }

  @Test(.chaos(runs: 20)) func `calls with the same seed have the same results for any concurrency`() async throws {
    var results: [[Int: String]] = []
    for workers in [1, 8, 64] {
      // A shared circuit breaker and cancelled hedges depend on the order of concurrent calls.
      let run = ChaosRun(.current) {
        $0.circuitBreaker = .off
        $0.hedging = .none
      }
      results.append(await run.calls(100, workers: workers))
    }
    for result in results.dropFirst() {
      #expect(result.filter { $0.value != results[0][$0.key] } == [:])
    }
  }
}

/// Calls on a server whose requests have the faults of a seed.
private struct ChaosRun: Sendable {
  let chaos: Chaos
  let clock = ManualClock(.whenIdle)
  let recorder = EventRecorder()
  let server: Server
  private let log = Shared<[String: [String]]>([:])

  init(_ chaos: Chaos, _ change: (inout ServerConfiguration) -> Void = { _ in }) {
    self.chaos = chaos
    let callClock = CallClock(clock)
    let stub = StubTransport(.text("whole"), chaos: chaos, clock: callClock)
    var configuration = ServerConfiguration()
    configuration.log = .discard
    configuration.observers = [recorder]
    configuration.timeouts.firstByte = .seconds(3)
    configuration.retryPolicy.baseDelay = .milliseconds(100)
    configuration.hedging = .after(.milliseconds(450))
    configuration.circuitBreaker = CircuitBreaker(
      window: .seconds(10), minimumCalls: 20, failureRatio: 0.5, openDuration: .seconds(1))
    change(&configuration)
    server = Server(
      "https://shop.test", configuration: configuration, transport: LoggingTransport(stub: stub, log: log),
      manager: TaskManager(
        limits: ThrottleLimits(perHost: 16), retryBudget: RetryBudget(ratio: 1, capacity: 1_000_000), clock: callClock,
        random: CallRandom(SeededGenerator(seed: chaos.seed))))
  }

  /// Makes calls with concurrent workers. Returns the result of each call.
  func calls(_ count: Int, workers: Int) async -> [Int: String] {
    await withTaskGroup(of: [Int: String].self) { group in
      for worker in 0..<workers {
        group.addTask {
          var results: [Int: String] = [:]
          for number in stride(from: worker, to: count, by: workers) { results[number] = await call(number) }
          return results
        }
      }
      return await group.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
    }
  }

  private func call(_ number: Int) async -> String {
    do {
      let data = try await Endpoint<Void, Void>.request(.get, "widgets/\(number)").on(server).data()
      return String(decoding: data, as: UTF8.self)
    } catch let error as TaskError {
      // Without a pause, all calls would fail in the same instant, before the circuit closes again.
      if error.code == .circuitOpen { try? await clock.sleep(for: .seconds(10)) }
      return error.code.name
    } catch {
      return "\(error)"
    }
  }

  /// The answers of the transport, by path.
  var answers: [String: [String]] { log.withLock { $0 } }

  /// The answers that the seed's faults don't explain.
  var surprises: [String] {
    answers.flatMap { path, answers in
      var expected = answers.indices.map { answer(to: chaos.fault(.get, path, occurrence: $0 + 1)) }
      return answers.filter { answer in
        guard answer != "cancelled" else { return false }
        guard let index = expected.firstIndex(of: answer) else { return true }
        expected.remove(at: index)
        return false
      }.map { "\(path): \($0)" }
    }
  }

  private func answer(to fault: Chaos.Fault?) -> String {
    switch fault {
    case nil, .delay, .cut: "200"
    case .status(let status): "\(status.code)"
    case .stall: "timedOut"
    case .reset: "connectionLost"
    case .garbage: "badResponse"
    }
  }
}

private struct LoggingTransport: Transport {
  let stub: StubTransport
  let log: Shared<[String: [String]]>

  var checksAddresses: Bool { true }

  func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    var answer = "cancelled"
    defer { log.withLock { $0[request.url.path, default: []].append(answer) } }
    do {
      let response = try await stub.send(request)
      answer = "\(response.status.code)"
      return response
    } catch let error as TaskError {
      answer = error.code.name
      throw error
    }
  }
}
