import ErrandFoundation

/// The dates by a clock: the machine's date when it was made, and what the clock counts from there on.
///
/// Tokens, cookies and stored responses end by them, so that a test that moves its clock moves their dates along, and a
/// machine whose date is set meanwhile ends none of them early.
struct DatedClock: Sendable {
  let clock: CallClock
  /// The date at which the clock stood at zero.
  let epoch: Date

  init(_ clock: CallClock) {
    self.clock = clock
    epoch = Date(timeIntervalSinceNow: -clock.now.inSeconds)
  }

  /// The present date.
  ///
  /// Made of the seconds since 1970, which files keep: a date that has more digits comes back from them as another one, and
  /// cookies in another order.
  var now: Date { Date(timeIntervalSince1970: epoch.timeIntervalSince1970 + clock.now.inSeconds) }
}
