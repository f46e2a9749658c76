import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct DeadlineTests {
  @Test func `an attempt's timeout is capped by the time left until the deadline`() async throws {
    let limits = Shared<[Duration?]>([])
    let shop = VirtualShop { number, request, clock in
      limits.withLock { $0.append(request.options.timeouts.attempt) }
      return number < 3 ? .unavailable(request) : .ok(request)
    }
    let task = shop.task().timeout(.seconds(6)).deadline(.seconds(10)).retry(upTo: 2, after: .seconds(3))
    let call = Task { try await task.run() }
    await shop.clock.pass(.seconds(3), sleepers: 2)
    await shop.clock.pass(.seconds(3), sleepers: 2)
    _ = try await call.value
    #expect(limits.withLock { $0 } == [.seconds(6), .seconds(6), .seconds(4)])
  }

  @Test func `the deadline does not shorten the attempt timeout of a stream or file download`() async throws {
    let limits = Shared<[Duration?]>([])
    let shop = VirtualShop { _, request, _ in
      limits.withLock { $0.append(request.options.timeouts.attempt) }
      return .ok(request)
    }
    let task = shop.task().deadline(.seconds(10))
    try await task.stream().body.cancel()
    try await withFolder { folder in
      try await task.download(to: folder.appendingPathComponent("file"))
      try await task.timeouts(Timeouts(attempt: .seconds(20))).download(to: folder.appendingPathComponent("file"))
    }
    try await task.run()
    #expect(limits.withLock { $0 } == [nil, nil, .seconds(20), .seconds(10)])
  }

  @Test func `an attempt cut short by the deadline reports the call timer`() async throws {
    let shop = VirtualShop { _, request, _ in
      let limit = request.options.timeouts.attempt ?? .zero
      throw TaskError.timeout(.attempt, after: limit, phase: .awaitingResponse)
    }
    let error = try #require(await taskError { try await shop.task().deadline(.seconds(2)).run() })
    #expect(error.timer == .call && error.limit == .seconds(2) && error.attempts.count == 1)
  }

  @Test func `an attempt within the deadline reports its own timer`() async throws {
    let shop = VirtualShop { _, request, _ in
      let limit = request.options.timeouts.attempt ?? .zero
      throw TaskError.timeout(.attempt, after: limit, phase: .awaitingResponse)
    }
    let task = shop.task().timeout(.seconds(1)).deadline(.seconds(2)).retry(.never)
    #expect(await taskError { try await task.run() }?.timer == .attempt)
  }

  @Test func `does not wait for a Retry-After beyond the deadline`() async throws {
    let shop = VirtualShop { _, request, _ in .unavailable(request, ["Retry-After": "60"]) }
    let error = try #require(await taskError { try await shop.task().deadline(.seconds(30)).run() })
    #expect(error.code == .badStatus && error.attempts.count == 1 && error.elapsed == .zero)
    #expect(error.record.description.contains("the call's deadline would expire during the retry delay of 60.000 s"))
  }

  @Test func `one deadline covers waiting, attempts and delays`() async throws {
    let shop = VirtualShop { _, request, clock in
      try await CallClock(clock).sleep(for: .seconds(2))
      return .unavailable(request)
    }
    let task = shop.task().deadline(.seconds(7)).retry(upTo: 9, after: .seconds(1))
    let call = Task { try await task.run() }
    for step in [2, 1, 2, 1, 1] { await shop.clock.pass(.seconds(step), sleepers: 2) }
    let error = try #require(await taskError { _ = try await call.value })
    #expect(error.timer == .call && error.elapsed == .seconds(7) && shop.sentCount == 3)
    #expect(shop.events.isBalanced)
  }

  @Test func `sends nothing if the deadline has already passed`() async throws {
    try await withFolder { folder in
      let shop = VirtualShop { _, request, _ in .ok(request) }
      let task = shop.task(method: .post).deadline(.seconds(-1))
      let file = folder.appendingPathComponent("file")
      for isFile in [true, false] {
        let error = await taskError {
          if isFile { try await task.download(to: file) } else { _ = try await task.stream() }
        }
        #expect(error?.isTimeout == true && error?.timer == .call)
      }
      #expect(shop.sentCount == 0)
    }
  }

  /// A clock whose sleepers, such as the timer of a deadline, wake too late.
  private final class LateClock: Clock {
    typealias Instant = ContinuousClock.Instant

    private let time = Shared(ContinuousClock.now)

    var now: Instant { time.withLock { $0 } }
    var minimumResolution: Duration { .zero }

    func advance(by duration: Duration) { time.withLock { $0 += duration } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
      if deadline > now { try await Task.sleep(for: .seconds(3600)) }
    }
  }

  private struct LateTask: ServerTask {
    let path = "late"
    let clock: LateClock
    let attempts = Shared(0)

    func preflight(_ request: inout HTTPRequest) async throws {
      let attempt = attempts.withLock { attempts in
        attempts += 1
        return attempts
      }
      if attempt == 2 { clock.advance(by: .seconds(60)) }
    }
  }

  @Test func `reads the given clock, even if that clock uses the system clock's instants`() {
    let clock = LateClock()
    let callClock = CallClock(clock)
    clock.advance(by: .seconds(60))
    #expect(callClock.now == .seconds(60))
  }

  @Test func `a retry that is granted a slot after the deadline costs no retry budget`() async throws {
    let (clock, sent) = (LateClock(), Shared(0))
    let manager = TaskManager(retryBudget: RetryBudget(ratio: 0, capacity: 5), clock: CallClock(clock))
    let server = Server(
      "https://shop.test",
      transport: StubTransport { request in
        sent.withLock { $0 += 1 }
        return .unavailable(request)
      }, manager: manager)
    let task = LateTask(clock: clock).on(server).deadline(.seconds(10)).retry(upTo: 3, after: .zero)
    let error = await taskError { try await task.run() }
    #expect(error?.timer == .call && sent.withLock { $0 } == 1)
    #expect(manager.retriesLeft(for: try #require(Origin(.known("https://shop.test/")))) == 5)
  }
}
