extension Timeouts {
  /// Returns the limits for the next request of an attempt that has taken `spent` so far, with the attempt's limit
  /// reduced. If that limit is not set, all requests together must not take longer than the limits for connecting and
  /// the first byte combined. Throws ``TaskError`` with code `.timedOut` if no time is left.
  func left(after spent: Duration) throws -> Timeouts {
    var left = self
    if let attempt {
      left.attempt = try Self.rest(of: attempt, .attempt, after: spent)
    } else if let connect, let firstByte {
      let rest = try Self.rest(of: connect + firstByte, .firstByte, after: spent, named: firstByte)
      (left.connect, left.firstByte) = (min(connect, rest), min(firstByte, rest))
    }
    return left
  }

  func isLessThanHalf(of whole: Timeouts) -> Bool {
    let limits = [(attempt, whole.attempt), (connect, whole.connect), (firstByte, whole.firstByte)]
    for case (let left?, let whole?) in limits where left * 2 < whole { return true }
    return false
  }

  private static func rest(
    of limit: Duration, _ timer: Timer, after spent: Duration, named: Duration? = nil
  ) throws -> Duration {
    if spent < limit { return limit - spent }
    throw TaskError.timeout(timer, after: named ?? limit, phase: .awaitingResponse)
  }
}
