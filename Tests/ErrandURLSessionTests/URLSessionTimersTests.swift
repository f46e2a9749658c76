import Testing

@testable import Errand
@testable import ErrandURLSession

@Suite(.timeLimit(.minutes(1))) struct URLSessionTimersTests {
  private let all = Timeouts(
    connect: .seconds(1), firstByte: .seconds(2), idle: .seconds(3), attempt: .seconds(100))

  private func make(hasBody: Bool) -> URLSessionTimers { URLSessionTimers(all, hasBody: hasBody, at: .seconds(10)) }

  @Test func `without a body, connecting and waiting for the response share one limit`() {
    let timers = make(hasBody: false)
    #expect(timers.next == .init(instant: .seconds(13), timer: .firstByte, limit: .seconds(3)))
    #expect(timers.phase == .awaitingResponse)
  }

  @Test func `with a body, connect ends at the first byte sent and firstByte starts at the last`() {
    var timers = make(hasBody: true)
    #expect(timers.next == .init(instant: .seconds(11), timer: .connect, limit: .seconds(1)))
    timers.sent(all: false, at: .seconds(20))
    #expect(timers.next == .init(instant: .seconds(23), timer: .idle, limit: .seconds(3)))
    timers.sent(all: true, at: .seconds(21))
    #expect(timers.next == .init(instant: .seconds(23), timer: .firstByte, limit: .seconds(2)))
    #expect(timers.phase == .awaitingResponse)
  }

  @Test func `every received byte restarts the idle timer, and a paused reader stops the timer`() {
    var timers = make(hasBody: false)
    timers.responded(at: .seconds(20))
    timers.received(at: .seconds(22))
    #expect(timers.next == .init(instant: .seconds(25), timer: .idle, limit: .seconds(3)))
    timers.hold(true, at: .seconds(23))
    #expect(timers.next?.timer == .attempt)
    timers.hold(false, at: .seconds(50))
    #expect(timers.next?.instant == .seconds(53))
  }

  @Test func `only the attempt timer runs while waiting for a network`() {
    var timers = make(hasBody: true)
    timers.waitsForNetwork(at: .seconds(11))
    #expect(timers.next == .init(instant: .seconds(110), timer: .attempt, limit: .seconds(100)))
    timers.connected(at: .seconds(40))
    #expect(timers.next?.timer == .idle)
  }
}
