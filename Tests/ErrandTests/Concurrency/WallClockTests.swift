import ErrandTesting
import Foundation
import Testing

@testable import Errand

@Suite(.timeLimit(.minutes(1))) struct DatedClockTests {
  private let clock = ManualClock()
  private let machine: Shared<Date>
  private let dates: @Sendable (Date) -> WallClock

  init() {
    let (clock, machine) = (clock, Shared(Date(timeIntervalSince1970: 0)))
    self.machine = machine
    dates = { start in
      machine.withLock { $0 = start }
      return WallClock(CallClock(clock)) { machine.withLock { $0 } }
    }
  }

  @Test func `dates follow the monotonic clock, even if the system date changes`() {
    let start = Date(timeIntervalSince1970: 1_800_000_000)
    let dates = dates(start)
    machine.withLock { $0 += 86_400 * 365 }
    clock.advance(by: .seconds(60))
    #expect(dates.now == start + 60)
  }

  @Test func `adopts the system date once the system clock is set`() {
    let dates = dates(Date(timeIntervalSince1970: 5))
    #expect(dates.now == Date(timeIntervalSince1970: 5))
    clock.advance(by: .seconds(4))
    let present = Date(timeIntervalSince1970: 1_800_000_000.25)
    machine.withLock { $0 = present }
    #expect(dates.now == present)
    machine.withLock { $0 = present + 60 }
    #expect(dates.now == present + 60)
  }
}
