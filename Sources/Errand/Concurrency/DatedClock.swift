import ErrandFoundation

/// The dates by a clock: the machine's date when it was made, and what the clock counts from there on.
///
/// Tokens, cookies and stored responses end by them, so that a test that moves its clock moves their dates along, and a
/// machine whose date is set meanwhile ends none of them early. One that was not set at all yet, as at the start of a machine
/// without a battery, is followed: what files keep would end before it began.
struct DatedClock: Sendable {
  let clock: CallClock
  /// The date at which the clock stood at zero.
  let epoch: Date
  private let machine: @Sendable () -> Date

  /// 1 January 2025: an earlier date is not the present.
  private static let earliest = Date(timeIntervalSince1970: 1_735_689_600)

  /// The dates by a clock; `machine` reads the date of the machine.
  init(_ clock: CallClock, machine: @escaping @Sendable () -> Date = { Date() }) {
    self.clock = clock
    self.machine = machine
    epoch = machine() - clock.now.inSeconds
  }

  /// The present date.
  ///
  /// Made of the seconds since 1970, which files keep: a date that has more digits comes back from them as another one, and
  /// cookies in another order.
  var now: Date {
    let isSet = epoch >= Self.earliest
    let seconds =
      isSet ? epoch.timeIntervalSince1970 + clock.now.inSeconds : machine().timeIntervalSince1970
    return Date(timeIntervalSince1970: seconds)
  }
}
