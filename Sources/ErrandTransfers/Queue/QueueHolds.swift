/// The retry delays for the keys of an ``OfflineQueue``, with exponential backoff.
struct QueueHolds {
  private struct Hold {
    var delay: Duration
    var end: Duration
  }

  private static let first = Duration.seconds(1)
  private static let longest = Duration.seconds(300)

  private var holds: [String: Hold] = [:]

  /// Delays a key. The delay is one second at first and doubles each time. It is at least the server's `Retry-After`,
  /// and at most five minutes.
  mutating func hold(_ key: String, at now: Duration, retryAfter: Duration?) {
    let delay = min(holds[key].map { $0.delay * 2 } ?? Self.first, Self.longest)
    holds[key] = Hold(delay: delay, end: now + min(max(delay, retryAfter ?? .zero), Self.longest))
  }

  mutating func release(_ key: String) { holds[key] = nil }

  func holds(_ key: String, at now: Duration) -> Bool { holds[key].map { now < $0.end } ?? false }

  /// Returns the time until the first of these keys can be delivered, zero if one can be delivered now, or `nil` if
  /// `keys` is empty.
  func wait(for keys: some Sequence<String>, at now: Duration) -> Duration? {
    keys.map { key in max(.zero, (holds[key]?.end ?? now) - now) }.min()
  }
}
