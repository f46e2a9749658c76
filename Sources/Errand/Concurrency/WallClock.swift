import ErrandFoundation

/// The date according to a clock: the system date at creation, plus the time elapsed on the clock since then.
///
/// Used for the expiry of tokens, cookies and stored responses. If a test advances its clock, their expiry follows, and
/// a change of the system date does not expire anything early. If the system date has not been set yet, as after
/// booting a machine without a battery, it is read again each time. Otherwise, stored values would expire before they
/// were created.
struct WallClock: Sendable {
  let clock: CallClock
  /// The date at the clock's zero.
  let epoch: Date
  private let machine: @Sendable () -> Date

  /// 1 January 2025. An earlier system date has not been set yet.
  private static let earliest = Date(timeIntervalSince1970: 1_735_689_600)

  init(_ clock: CallClock, machine: @escaping @Sendable () -> Date = { Date() }) {
    self.clock = clock
    self.machine = machine
    epoch = machine() - clock.now.inSeconds
  }

  /// The current date.
  ///
  /// Calculated from the seconds since 1970, which is what files store. A date with more digits would change when it is
  /// stored and read back, which would also change the order of cookies.
  var now: Date {
    let isSet = epoch >= Self.earliest
    let seconds =
      isSet ? epoch.timeIntervalSince1970 + clock.now.inSeconds : machine().timeIntervalSince1970
    return Date(timeIntervalSince1970: seconds)
  }
}
