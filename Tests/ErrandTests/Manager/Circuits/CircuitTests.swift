import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct CircuitTests {
  private let settings = CircuitBreaker(window: .seconds(30), minimumCalls: 4, openDuration: .seconds(20), probes: 1)

  /// Makes one attempt. Returns `nil` if it was rejected.
  @discardableResult
  private func send(
    _ circuit: inout Circuit, _ result: Circuit.Result, at seconds: Int, _ other: CircuitBreaker? = nil
  ) -> Bool? {
    let settings = other ?? settings
    guard case .permit(let permit) = circuit.enter(at: .seconds(seconds), settings) else { return nil }
    return circuit.leave(permit, result, at: .seconds(seconds), settings)
  }

  @Test func `opens if half of the calls have failed when the minimum number is reached`() {
    var circuit = Circuit()
    #expect(send(&circuit, .failure, at: 0) == false)
    #expect(send(&circuit, .success, at: 1) == false)
    #expect(send(&circuit, .success, at: 2) == false)
    #expect(send(&circuit, .failure, at: 3) == true)
    #expect(circuit.state(at: .seconds(3)) == .open(for: .seconds(20)))
    #expect(circuit.enter(at: .seconds(10), settings) == .refuse(.seconds(13)))
  }

  @Test func `ignores failures from before the window`() {
    var circuit = Circuit()
    for _ in 0..<3 { send(&circuit, .failure, at: 0) }
    #expect(send(&circuit, .failure, at: 31) == false)
    #expect(circuit.state(at: .seconds(31)) == .closed)
  }

  @Test func `opens exactly at the failure ratio`() {
    // Ratios of 1 in 4 and 6 in 8.
    for (ratio, results) in [(0.25, "sssf"), (0.75, "ffssffff")] {
      let settings = CircuitBreaker(minimumCalls: 4, failureRatio: ratio)
      var circuit = Circuit()
      let opened = results.map { send(&circuit, $0 == "f" ? .failure : .success, at: 0, settings) }
      #expect(opened == Array(repeating: false, count: results.count - 1) + [true], "\(ratio)")
    }
  }

  @Test func `counts failures within the configured window`() {
    let long = CircuitBreaker(window: .seconds(300), minimumCalls: 4)
    var circuit = Circuit()
    for second in [0, 90, 180] { #expect(send(&circuit, .failure, at: second, long) == false) }
    #expect(send(&circuit, .failure, at: 269, long) == true)
    let short = CircuitBreaker(window: .seconds(3), minimumCalls: 4)
    var other = Circuit()
    for second in [0, 1, 2, 4, 5, 6] { #expect(send(&other, .failure, at: second, short) == false) }
  }

  @Test func `allows the configured number of concurrent probes`() {
    let settings = CircuitBreaker(minimumCalls: 4, openDuration: .seconds(20), probes: 2)
    var circuit = Circuit()
    for _ in 0..<4 { send(&circuit, .failure, at: 0, settings) }
    let decisions = (0..<3).map { _ in circuit.enter(at: .seconds(20), settings) }
    guard case .permit(let first) = decisions[0], case .permit(let second) = decisions[1] else {
      Issue.record("\(decisions)")
      return
    }
    #expect(first.isProbe && second.isProbe && decisions[2] == .refuse(.zero))
  }

  @Test func `ignores inconclusive results`() {
    var circuit = Circuit()
    for _ in 0..<3 { send(&circuit, .failure, at: 0) }
    for _ in 0..<9 { #expect(send(&circuit, .unknown, at: 1) == false) }
    #expect(send(&circuit, .failure, at: 2) == true)
  }

  @Test func `allows one probe at a time and closes when the probe succeeds`() {
    var circuit = Circuit()
    for _ in 0..<4 { send(&circuit, .failure, at: 0) }
    guard case .permit(let probe) = circuit.enter(at: .seconds(20), settings) else {
      Issue.record("the circuit did not allow a probe")
      return
    }
    #expect(probe.isProbe && circuit.state(at: .seconds(20)) == .halfOpen)
    #expect(circuit.enter(at: .seconds(20), settings) == .refuse(.zero))
    #expect(circuit.leave(probe, .success, at: .seconds(21), settings) == false)
    #expect(circuit.state(at: .seconds(21)) == .closed)
    #expect(send(&circuit, .failure, at: 22) == false, "closing the circuit discards earlier failures")
  }

  @Test func `a failed probe reopens the circuit, but an inconclusive probe allows another`() {
    var circuit = Circuit()
    for _ in 0..<4 { send(&circuit, .failure, at: 0) }
    #expect(send(&circuit, .unknown, at: 20) == false)
    #expect(send(&circuit, .failure, at: 21) == true)
    #expect(circuit.state(at: .seconds(22)) == .open(for: .seconds(19)))
  }

  @Test func `requests sent before the circuit opened do not count as probes`() {
    var circuit = Circuit()
    guard case .permit(let late) = circuit.enter(at: .zero, settings) else {
      Issue.record("a closed circuit rejected a request")
      return
    }
    for _ in 0..<4 { send(&circuit, .failure, at: 0) }
    _ = circuit.enter(at: .seconds(20), settings)
    #expect(circuit.leave(late, .success, at: .seconds(20), settings) == false)
    #expect(circuit.state(at: .seconds(20)) == .halfOpen)
  }

  @Test func `is idle once all results are outside the window`() {
    var circuit = Circuit()
    send(&circuit, .failure, at: 0)
    #expect(!circuit.isIdle(at: .seconds(20)) && circuit.isIdle(at: .seconds(31)))
  }

  @Test(arguments: [
    (TaskError(.cannotConnect, "", phase: .connecting), Circuit.Result.failure),
    (TaskError.timeout(.firstByte, after: .zero, phase: .awaitingResponse), .failure),
    (TaskError.timeout(.queue, after: .zero, phase: .waiting), .unknown),
    (TaskError(.offline, "", phase: .connecting), .unknown),
    (TaskError(.bodyTooLarge, "", phase: .receiving), .unknown),
    (TaskError(.untrustedServer, "", phase: .connecting), .unknown),
  ])
  func `classifies local errors as unknown`(error: TaskError, result: Circuit.Result) {
    #expect(Circuit.Result(error) == result)
    #expect(Circuit.Result(CancellationError()) == .unknown)
    #expect(Circuit.Result(.notFound, .complete) == .success && Circuit.Result(.badGateway, .dropped) == .failure)
  }

  @Test func `requires at least one call and one probe`() {
    let breaker = CircuitBreaker(minimumCalls: 0, probes: -1)
    #expect(breaker.minimumCalls == 1 && breaker.probes == 1)
    var changed = CircuitBreaker.standard
    (changed.minimumCalls, changed.probes) = (0, 0)
    #expect(changed.minimumCalls == 1 && changed.probes == 1)
  }

  @Test(arguments: [
    Duration(secondsComponent: 0, attosecondsComponent: 1), .nanoseconds(1), .seconds(-1), .unlimited,
  ]) func `extreme durations do not trap`(time: Duration) throws {
    let settings = CircuitBreaker(window: time, minimumCalls: 1, openDuration: time)
    let coordinator = CircuitRegistry(clock: CallClock(ManualClock()))
    let host = try #require(URL(string: "https://shop.test").flatMap { Origin($0) })
    for result in [Circuit.Result.success, .failure] { try? coordinator.permit(for: host, settings).end(result) }
    var circuit = Circuit()
    for second in [0, 1, 1_000_000] { send(&circuit, .failure, at: second, settings) }
    #expect(!"\(coordinator.circuit(of: host)) \(circuit.isIdle(at: .seconds(1_000_000)))".isEmpty)
  }

  @Test func `servers with different windows share one circuit`() {
    var circuit = Circuit()
    var shorter = settings
    shorter.window = .seconds(20)
    for second in 0..<3 {
      #expect(send(&circuit, .failure, at: second, second.isMultiple(of: 2) ? settings : shorter) == false)
    }
    #expect(send(&circuit, .failure, at: 3) == true, "all four requests have failed")
  }

  @Test func `a longer window keeps its history when a shorter window is added`() {
    var circuit = Circuit()
    let short = CircuitBreaker(window: .seconds(1), minimumCalls: 100)
    for second in [0, 2, 4] { #expect(send(&circuit, .failure, at: second) == false) }
    #expect(send(&circuit, .failure, at: 6, short) == false)
    #expect(send(&circuit, .failure, at: 7) == true, "five requests have failed in the 30-second window")
  }

  @Test func `limits the number of windows`() {
    var windows = CircuitWindows()
    for second in 1...100 { windows.count(isFailure: true, at: .seconds(second), .seconds(1000 + second)) }
    #expect(windows.windowCount == CircuitWindows.most)
    #expect(
      windows.isBad(CircuitBreaker(window: .seconds(1100), minimumCalls: 90)),
      "a new window includes the failures of existing windows"
    )
  }

  @Test(arguments: [0, -1, Double.nan, 2, Double.infinity, -Double.infinity])
  func `invalid ratios neither open the circuit without failures nor keep it closed`(
    ratio: Double
  ) {
    var changed = CircuitBreaker(window: .seconds(30), minimumCalls: 4)
    changed.failureRatio = ratio
    for settings in [CircuitBreaker(minimumCalls: 4, failureRatio: ratio), changed] {
      var circuit = Circuit()
      for second in 0..<9 { #expect(send(&circuit, .success, at: second, settings) == false) }
      let opened = (60..<64).map { send(&circuit, .failure, at: $0, settings) }
      #expect(opened.contains(true), "\(ratio)")
      #expect((0...1).contains(settings.failureRatio))
    }
  }

  @Test func `is idle after an inconclusive probe, but not while a probe is running`() {
    var circuit = Circuit()
    for _ in 0..<4 { send(&circuit, .failure, at: 0) }
    guard case .permit(let probe) = circuit.enter(at: .seconds(20), settings) else {
      Issue.record("the circuit did not allow a probe")
      return
    }
    #expect(!circuit.isIdle(at: .seconds(20) + Circuit.memory))
    _ = circuit.leave(probe, .unknown, at: .seconds(25), settings)
    #expect(!circuit.isIdle(at: .seconds(24) + Circuit.memory) && circuit.isIdle(at: .seconds(25) + Circuit.memory))
  }

  @Test func `a shorter window forgets older failures`() {
    var circuit = Circuit()
    var shorter = settings
    shorter.window = .seconds(5)
    for _ in 0..<3 { send(&circuit, .failure, at: 0) }
    #expect(send(&circuit, .failure, at: 12, shorter) == false)
  }
}
