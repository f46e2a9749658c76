import Dispatch
import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct ObserverQueueTests {
  /// Receives no events until its gate opens.
  private final class Slow: TaskObserver {
    let gate = DispatchSemaphore(value: 0)
    let seen = Shared<[TaskEvent]>([])
    let counter = Counter()

    func observe(_ event: TaskEvent) {
      gate.wait()
      gate.signal()
      seen.withLock { $0.append(event) }
      counter.add()
    }
  }

  @Test func `a slow observer does not delay calls and receives the number of dropped events`()
    async throws
  {
    let slow = Slow()
    let stub = StubServer(.widget) { $0.observers = [slow] }
    let each = 8  // events per call without a retry
    let calls = 2 * ObserverQueue.capacity / each
    for _ in 0..<calls { _ = try await GetWidget().on(stub.server).download() }
    #expect(slow.seen.withLock { $0.isEmpty }, "all calls have ended, but the observer has received nothing yet")
    slow.gate.signal()
    // Wait for the events that arrived while the observer was blocked.
    while slow.seen.withLock({ $0.last.map(\.missed) }) ?? 0 == 0 { await giveWay() }
    let events = slow.seen.withLock { $0 }
    #expect(zip(events, events.dropFirst()).allSatisfy { $0.call <= $1.call })
    #expect(events.dropLast().allSatisfy { $0.missed == 0 })
    #expect(
      events.count + (events.last?.missed ?? 0) == calls * each, "every event was either delivered or counted as missed"
    )
    #expect(events.last?.moment.kind == "callEnded", "the last event delivered is the newest")
  }

  @Test func `calls an inline observer synchronously`() async throws {
    let recorder = EventRecorder()
    let stub = StubServer(.widget) { $0.observers = [recorder] }
    _ = try await GetWidget().on(stub.server).download()
    #expect(recorder.delivery == .inline && recorder.isBalanced)
  }

  /// Observes some of the moments.
  private struct Part: TaskObserver {
    let interest: ObserverInterest
    let seen = Shared<[String]>([])
    var delivery: ObserverDelivery { .inline }
    func observe(_ event: TaskEvent) { seen.withLock { $0.append(event.moment.kind) } }
  }

  @Test(arguments: [[.ends], [.calls], [.ends, .calls], [.ends, .all]] as [[ObserverInterest]])
  func `each observer receives only the moments it is interested in`(wanted: [ObserverInterest]) async throws {
    let observers = wanted.map { Part(interest: $0) }
    let stub = StubServer(.widget) { $0.observers = observers }
    _ = try await GetWidget().on(stub.server).download()
    for observer in observers {
      let seen = observer.seen.withLock { $0 }
      switch observer.interest {
      case .ends: #expect(seen == ["callEnded"])
      case .calls: #expect(seen == ["callStarted", "callEnded"])
      case .all: #expect(seen.count > 6 && seen.contains("requested") && seen.last == "callEnded")
      }
    }
  }
}

@Suite(.timeLimit(.minutes(1))) struct ToldTests {
  /// Records its hook calls.
  private struct Told: ServerGETTask {
    let log: Shared<[String]>
    var path: String { "told" }
    func willRetry(after delay: Duration, attempts: [AttemptRecord]) async {
      log.withLock { $0.append("willRetry after \(delay.formattedSeconds)") }
    }
    func postProcess(response: HTTPResponse) async throws { log.withLock { $0.append("postProcess") } }
    func postflight(response: HTTPResponse) async throws { log.withLock { $0.append("postflight") } }
    func didComplete(with response: HTTPResponse) async {
      log.withLock { $0.append("didComplete, \(response.record.attempts.count) attempts") }
    }
  }

  @Test func `postflight runs before the call ends, and didComplete runs afterwards`() async throws {
    let log = Shared<[String]>([])
    let stub = StubServer(.status(.ok)) {
      $0.postflight = { _, _ in log.withLock { $0.append("the server's postflight") } }
      $0.observers = [Inline { event in if case .callEnded = event.moment { log.withLock { $0.append("ended") } } }]
    }
    try await Told(log: log).on(stub.server).run()
    #expect(
      log.withLock { $0 } == [
        "postProcess", "postflight", "the server's postflight", "ended", "didComplete, 1 attempts",
      ])
  }

  private struct Inline: TaskObserver {
    let notify: @Sendable (TaskEvent) -> Void
    var delivery: ObserverDelivery { .inline }
    func observe(_ event: TaskEvent) { notify(event) }
  }

  @Test func `does not call willRetry for a hedge`() async throws {
    let log = Shared<[String]>([])
    let shop = VirtualShop { number, request, clock in
      if number == 1 { try await CallClock(clock).sleep(for: .seconds(1000)) }
      return .ok(request)
    }
    let call = Task { try await Told(log: log).on(shop.server).hedged(after: .seconds(1)).run() }
    await shop.clock.pass(.seconds(1), sleepers: 2)
    _ = try await call.value
    #expect(log.withLock { lines in !lines.contains { $0.hasPrefix("willRetry") } } && shop.sentCount == 2)
  }

  @Test func `an attempt's record includes the delay that follows the attempt`() async throws {
    let stub = StubServer(.status(503), .status(.ok))
    let error = GetWidget().on(stub.server).retry(upTo: 1, after: .seconds(2))
    let response = try await error.run()
    #expect(response.record.attempts.map(\.delay) == [.seconds(2), nil])
  }

  @Test func `the printed record of an attempt mentions a resend on a new connection`() {
    var record = AttemptRecord(number: 1)
    record.status = .ok
    record.timings = TransferTimings()
    #expect("\(CallMoment.attemptEnded(1, record))" == "attempt 1 ended: 200 OK")
    record.timings?.wasResent = true
    #expect("\(CallMoment.attemptEnded(1, record))" == "attempt 1 ended: 200 OK, resent on a new connection")
  }
}
