import ErrandFoundation

/// The date according to a clock: the system date at creation, plus the time that the clock has counted since.
///
/// Used for the expiry of tokens, cookies and stored responses. A test that moves its clock moves their dates too, and
/// a change of the system date expires nothing early. A system date that is not set yet, as after booting a machine
/// without a battery, is read again each time: otherwise stored values would expire before they were created.
struct DatedClock: Sendable {
  let clock: CallClock
  /// The date at the clock's zero.
  let epoch: Date
  private let machine: @Sendable () -> Date

  /// 1 January 2025. An earlier system date is not set yet.
  private static let earliest = Date(timeIntervalSince1970: 1_735_689_600)

  init(_ clock: CallClock, machine: @escaping @Sendable () -> Date = { Date() }) {
    self.clock = clock
    self.machine = machine
    epoch = machine() - clock.now.inSeconds
  }

  /// The current date.
  ///
  /// Computed from the seconds since 1970, which is what files store: a date with more digits would change when it is
  /// stored and read back, and with it the order of cookies.
  var now: Date {
    let isSet = epoch >= Self.earliest
    let seconds =
      isSet ? epoch.timeIntervalSince1970 + clock.now.inSeconds : machine().timeIntervalSince1970
    return Date(timeIntervalSince1970: seconds)
  }
}
