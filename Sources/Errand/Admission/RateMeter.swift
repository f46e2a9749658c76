/// A token bucket as one instant: the one at which it is full again (the "generic cell rate algorithm").
struct RateMeter {
  private var fullAt: Duration = .zero

  /// When the next token is there; now or earlier when there is one.
  func nextToken(_ limit: RateLimit) -> Duration {
    limit.isNone ? .zero : fullAt - limit.interval * (limit.burst - 1)
  }

  /// Takes a token, which must be there.
  mutating func take(at now: Duration, _ limit: RateLimit) {
    if !limit.isNone { fullAt = max(fullAt, now) + limit.interval }
  }

  /// Whether nothing would be lost by forgetting it.
  func isFull(at now: Duration) -> Bool { fullAt <= now }
}
