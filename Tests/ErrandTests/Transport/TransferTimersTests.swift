#if os(Linux)
  import Errand
  import Testing

  @testable import Errand

  @Suite(.timeLimit(.minutes(1))) struct TransferTimersTests {
    private static let second: UInt64 = 1_000_000_000

    private func make(_ limits: Timeouts) -> TransferTimers { TransferTimers(limits, at: 5 * Self.second) }

    private func next(_ timers: TransferTimers) -> (Timeouts.Timer, UInt64)? {
      timers.next.map { ($0.timer, $0.instant / Self.second) }
    }

    @Test func `no timer fires without limits`() { #expect(make(Timeouts()).next == nil) }

    @Test func `each phase has its own timer`() throws {
      let limits = Timeouts(connect: .seconds(1), firstByte: .seconds(2), idle: .seconds(3), attempt: .seconds(100))
      var timers = make(limits)
      #expect(try #require(next(timers)) == (.connect, 6))
      #expect(timers.phase == .connecting)
      timers.connected(at: 10 * Self.second, sendsBody: true)
      #expect(try #require(next(timers)) == (.idle, 13))
      #expect(timers.phase == .sending)
      timers.sent(at: 20 * Self.second)
      #expect(try #require(next(timers)) == (.firstByte, 22))
      #expect(timers.phase == .awaitingResponse)
      timers.responded(at: 30 * Self.second)
      #expect(try #require(next(timers)) == (.idle, 33))
      #expect(timers.phase == .receiving)
      timers.moved(at: 40 * Self.second)
      #expect(try #require(next(timers)) == (.idle, 43))
    }

    @Test func `the attempt limit spans all phases`() throws {
      var timers = make(Timeouts(idle: .seconds(50), attempt: .seconds(10)))
      timers.connected(at: 6 * Self.second, sendsBody: false)
      timers.responded(at: 7 * Self.second)
      timers.moved(at: 8 * Self.second)
      #expect(try #require(next(timers)) == (.attempt, 15))
    }

    @Test func `a paused transfer is not idle, but its attempt can time out`() throws {
      var timers = make(Timeouts(idle: .seconds(1), attempt: .seconds(10)))
      timers.connected(at: 6 * Self.second, sendsBody: false)
      timers.responded(at: 7 * Self.second)
      timers.isHeld = true
      #expect(try #require(next(timers)) == (.attempt, 15))
    }

    @Test func `without a body, the first-byte timer starts with the connection`() throws {
      var timers = make(Timeouts(firstByte: .seconds(2)))
      #expect(timers.next == nil)
      timers.connected(at: 9 * Self.second, sendsBody: false)
      #expect(try #require(next(timers)) == (.firstByte, 11))
    }

    @Test func `waiting for a connection does not count as connecting`() throws {
      var timers = TransferTimers(Timeouts(connect: .seconds(2)), at: 5 * Self.second, waits: true)
      #expect(timers.next == nil && timers.phase == .waiting)
      timers.connecting(at: 100 * Self.second)
      #expect(try #require(next(timers)) == (.connect, 102) && timers.phase == .connecting)
      timers.connecting(at: 101 * Self.second)
      #expect(try #require(next(timers)) == (.connect, 102), "trying a second address does not restart the timer")
    }

    @Test func `waiting for a connection counts towards the queue limit instead of the attempt limit`() throws {
      let limits = Timeouts(queue: .seconds(20), attempt: .seconds(10))
      var timers = TransferTimers(limits, at: 5 * Self.second, waits: true)
      #expect(try #require(next(timers)) == (.queue, 25))
      timers.connecting(at: 24 * Self.second)
      #expect(try #require(next(timers)) == (.attempt, 34))
    }

    @Test func `without a queue limit, waiting for a connection counts towards the attempt limit`() throws {
      var timers = TransferTimers(Timeouts(attempt: .seconds(10)), at: 5 * Self.second, waits: true)
      #expect(try #require(next(timers)) == (.attempt, 15))
      // Reuse a connection that is already established.
      timers.connected(at: 12 * Self.second, sendsBody: false)
      #expect(try #require(next(timers)) == (.attempt, 15) && timers.phase == .awaitingResponse)
    }

    @Test(
      arguments: [
        (Duration.seconds(-1), UInt64(0)), (.zero, 0), (.nanoseconds(1), 1), (.milliseconds(1500), 1_500_000_000),
        (.seconds(Int64.max), 3_200_000_000_000_000_000),
      ] as [(Duration, UInt64)])
    func `converts a duration to nanoseconds and clamps it`(duration: Duration, nanoseconds: UInt64) {
      #expect(duration.nanoseconds == nanoseconds)
    }
  }
#endif
