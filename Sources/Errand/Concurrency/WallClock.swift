package import ErrandFoundation

/// The date according to a clock: the system date at creation, plus the time elapsed on the clock since then.
///
/// Used for the expiry of tokens, cookies and stored responses. They expire when a test advances its clock, and a
/// change to the system date doesn't expire them early. If the system clock has not been set (for example, on a board
/// without a battery-backed clock), it is read every time. Otherwise, ``now`` would stay wrong after the clock is set.
package struct WallClock: Sendable {
  let clock: CallClock
  /// The date at which the clock was at zero.
  let epoch: Date
  private let machine: @Sendable () -> Date

  /// 1 January 2025. A system date before this means that the date is not set yet.
  private static let earliest = Date(timeIntervalSince1970: 1_735_689_600)

  init(_ clock: CallClock, machine: @escaping @Sendable () -> Date = { Date() }) {
    self.clock = clock
    self.machine = machine
    epoch = machine() - clock.now.inSeconds
  }

  /// The current date.
  ///
  /// Calculated from the seconds since 1970, which is what files store. A more precise date would change when it is
  /// stored and read back, and so would the order of cookies.
  package var now: Date {
    let isSet = epoch >= Self.earliest
    let seconds =
      isSet ? epoch.timeIntervalSince1970 + clock.now.inSeconds : machine().timeIntervalSince1970
    return Date(timeIntervalSince1970: seconds)
  }
}
